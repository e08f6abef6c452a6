"""Error messages say what is wrong and what to do, and commands have the options that --help names."""

import base64
import fcntl
import glob
import json
import os
import re
import resource
import subprocess
import tarfile

from harness import FEW, PATIENCE_SECONDS, Skip, check, check_equal, check_in, main, statuses, until

STAGES = ["signature", "group", "compare", "contain"]  # one source for all four
COMMANDS = ["run", "dedup", "audit", "synth", "pairs", "similar", "train", "cover", "archive", "topics", "ingest",
            *STAGES, "watch", "status", "evaluate", "serve", "config", "rules", "forget"]


def complaint(work, *arguments, code=1):
    """The message of a failing run: one or two sentences, each with the program's name."""
    done = work.run(*arguments, code=code)
    lines = done.err.splitlines()
    check(lines, "no message for", arguments)
    check(len(lines) <= 2, "a long message:", done.err)
    for line in lines:
        check(line.startswith("samepage"), "whose message?", line)
        check("Success" not in line, "an error by the name of success:", line)
    return done.err


def options_of(work, command):
    """The long options in the command's source."""
    name = "stage" if command in STAGES else command
    with open(os.path.join(work.source, "processors", "programs", "cli", "commands", f"{name}.c"),
              encoding="utf-8") as f:
        source = f.read()
    found = set(re.findall(r'\{"([a-z-]+)",\s*(?:no|required|optional)_argument', source))
    found.add("help")
    if "SP_LIST_OPTIONS" in source:
        found |= {"kept", "removed", "clusters"}
    if "SP_DOCUMENT_OPTIONS" in source:
        found |= {"threshold", "quiet"}
    if "SP_SETTING_OPTIONS" in source or "SP_DOCUMENT_OPTIONS" in source:
        found |= {"config", "set", "help-settings"}
    if "SP_FIELD_OPTIONS" in source or "SP_DOCUMENT_OPTIONS" in source:
        found |= {f"{name}-field" for name in ("id", "text", "time", "status", "redirect", "type", "popularity")}
    return found


def what_a_configuration_file_set_is_freed_on_every_way_out(work):
    """The address sanitizer ends a leaking program with an exit code of its own."""
    work.write("settings", "winner.relation = a.host = b.host\npartition.map = missing\n")
    work.write("a", "some words\n")
    for command in COMMANDS:
        if "--config" not in options_flags(work, command):
            continue
        settings = [command, "--config", "settings"]
        work.run(*settings, "--help")
        work.run(*settings, "--no-such-option", code=2)
        if command in ("run", "dedup", "audit", "pairs", "archive", "evaluate", "cover", "similar"):
            work.run(*settings, code=2)  # nothing to read
    for arguments in (["dedup", "a", "--kept", "k"], ["audit", "a", "--kept", "k"], ["pairs", "a"],
                      ["run", "a"], ["similar", "a", "a"], ["evaluate", "--report", "r", "a"]):
        work.run(*arguments, "--config", "settings", code=2 if arguments[0] == "similar" else 1)


def options_flags(work, command):
    return {f"--{name}" for name in options_of(work, command)}


def help_of_each_command_mentions_every_option(work):
    for command in COMMANDS:
        done = work.run(command, "--help")
        check(done.err == "", "help is not an error:", done.err)
        check_in(f"samepage {command}", done.out)
        check_in("SYNOPSIS", done.out)
        options = options_of(work, command)
        check(len(options) > 1, "no option found in the source of", command)
        mentioned = set(re.findall(r"--([a-z-]+)", done.out))
        check(not options - mentioned, command, "has options that its help does not mention:",
              options - mentioned)
        section = done.out.split("OPTIONS\n", 1)[1].split("\n\n", 1)[0]
        check_equal(options, set(re.findall(r"(?:^  (?:-\w, )?| NAME, )--([a-z-]+)", section, re.M)),
                    f"{command}: options in the source and in the list of options")
        for line in done.out.splitlines():
            check(len(line) <= 100, "a long line in the help of", command, line)
    check_equal(sorted([c for c in COMMANDS if c not in STAGES] + ["stage"]), sorted(
        os.path.basename(f)[:-2]
        for f in glob.glob(os.path.join(work.source, "processors", "programs", "cli", "commands", "*.c"))),
        "commands known to this test and in the source")


def help_lists_every_setting_with_its_default(work):
    defaults = work.run("config").out
    settings = re.findall(r"^([a-z0-9_.]+) = (\S+)$", defaults, re.M)
    check(len(settings) >= 20, "settings:", settings)
    for command in "run", "pairs", "similar":
        text = work.run(command, "--help-settings").out
        for key, value in settings:
            check_in(f"  {key} = {value}\n", text, f"settings of {command}")
        check("barrier.pages" not in work.run(command, "--help").out, "settings are in the help of", command)
    # A file of the default settings has the effect of no file.
    work.crawl(pages=300)
    work.write("defaults", defaults)
    work.run("run", "-q", "--state", "state", "-o", "a", "crawl.jsonl")
    work.run("run", "-q", "--state", "state", "-o", "a", "--config", "defaults", "crawl.jsonl")


def help_of_the_program_names_the_commands(work):
    for arguments in ["--help"], ["help"], ["-h"]:
        text = work.run(*arguments).out
        for command in COMMANDS:
            check_in(f"\n  {command} ", text)
    check_in("usage", work.run(code=2).err)
    check_in("--help", complaint(work, "nonsense", code=2))
    check_equal(work.run("help", "pairs").out, work.run("pairs", "--help").out, "help pairs")
    check_equal(work.run("pairs", "-h").out, work.run("pairs", "--help").out, "pairs -h")
    check_equal(work.run("-V").out, work.run("--version").out, "-V")
    for wrong, right in ("piars", "pairs"), ("dedupe", "dedup"), ("evalute", "evaluate"):
        check_in(f'did you mean "{right}"?', complaint(work, wrong, code=2))
        check_in(f'did you mean "{right}"?', complaint(work, "help", wrong, code=2))
    for command, wrong, right in [("run", "--ouput", "--output"), ("dedup", "--kep", "--kept"),
                                  ("pairs", "--treshold", "--threshold")]:
        check_in(f"did you mean {right}?", complaint(work, command, wrong, code=2))
    check("did you mean" not in complaint(work, "run", "--entirely-else", code=2), "a far-fetched suggestion")
    version = work.run("--version").out
    check(re.match(r"samepage \d+\.\d+\.\d+ \(signature version \d+\)\n$", version), version)


def standard_output_is_for_one_output(work):
    """- names it wherever a file can be named, and no two kinds of lines are mixed there."""
    crawl = work.crawl(pages=40)
    work.write("a.warc", b"WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a.example/\r\n"
               b"Content-Type: text/plain\r\nContent-Length: 10\r\n\r\nsome words\r\n\r\n")
    relation = ["--relation", "jaccard(a, b) >= 0.8"]
    for arguments in (["run", "-o", "out", crawl], ["cover", "-o", "covers", *relation, crawl],
                      ["archive", "-o", "archive", "a.warc"], ["archive", "--restore", "ALL", "-o", "all", "archive"]):
        check("records" in json.loads(work.run(*arguments, "-q", "--summary", "-").out), arguments)
        check_in("cannot be written: No space left", work.run(*arguments, "-q", "--summary", "/dev/full", code=1).err)
    for arguments in (["run", "--groups", "-", crawl], ["run", "--summary", "-", crawl], ["pairs", "--sets", "-", crawl],
                      ["dedup", "--kept", "-", "--removed", "-", crawl], ["cover", *relation, "--summary", "-", crawl],
                      ["archive", "--restore", "ALL", "--summary", "-", "archive"]):
        done = work.run(*arguments, code=2)
        check_in("two outputs go to standard output", done.err)
        check_equal(done.out, "", arguments)
    check_in('"set"', work.run("pairs", "-q", "--no-pairs", "--sets", "-", crawl).out)
    check_in('"kind"', work.run("synth", "--pages", "9", "-o", "pages", "--truth", "-").out)
    check_in("is a file, not standard output", work.run("train", "-o", "-", crawl, code=2).err)
    check(not work.exists("-"), "there is a file of that name")


def similar_ends_as_diff_does(work):
    text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    work.write("a", text)
    work.write("b", text + "sixteen")
    work.write("c", "entirely other words that have nothing to do with the rest of them here")
    check_in("near duplicates", work.run("similar", "a", "b").out)
    check_in("not near duplicates", work.run("similar", "a", "c", code=1).out)
    work.run("similar", "a", "missing", code=2)
    for packed in work.gzip("a"), work.zstd("b"):
        check_in("near duplicates", work.run("similar", packed, "b").out)
    work.write("cut.gz", work.read("a.gz")[:-9])
    check_in("cut.gz: the compressed file ends", work.run("similar", "cut.gz", "b", code=2).err)
    check_in("is a folder", work.run("similar", "a", ".", code=2).err)
    for calls in 0, 20:
        done = work.start("similar", "a", "b", stderr=subprocess.PIPE,
                          env={**os.environ, "SAMEPAGE_TEST_FAIL_ALLOCATION": str(calls)})
        check_in("out of memory", done.communicate()[1].decode())
        check_equal(done.returncode, 2, "without memory")


def similar_reads_a_file_as_run_does(work):
    """By its name: a page may begin with text, and a text with a tag."""
    words = "one two three four five six seven eight nine ten eleven twelve "
    page = "one <i class=a>two</i> three four five six seven eight <b id=b>nine</b> ten eleven twelve"
    for name in "a.html", "a.htm", "a.xhtml":
        work.write(name, page)
        check_in("HTML, 8 shingles", work.run("similar", name, name).out)
    work.write("b.txt", "<p>" + words)
    check_in("plain text, 9 shingles", work.run("similar", "b.txt", "b.txt").out)
    check_in("HTML, 8 shingles", work.run("similar", work.gzip("a.html"), "a.html").out)
    for name in "c.md", "c.markdown":
        work.write(name, "# " + words)
        check_in("Markdown, 8 shingles", work.run("similar", name, name).out)


def a_wrong_option_says_how_to_get_help(work):
    work.crawl(pages=20)
    wrong = [["run", "--nonsense", "crawl.jsonl"], ["run"], ["run", "--output"],
             ["run", "--set", "crawl.jsonl"], ["run", "-x", "crawl.jsonl"], ["pairs"],
             ["pairs", "-t", "2", "crawl.jsonl"], ["pairs", "-t", "x", "crawl.jsonl"],
             ["similar", "crawl.jsonl"], ["similar", "a", "b", "c"], ["synth", "--pages", "many"],
             ["synth", "--pages", "-1"], ["synth", "extra"], ["synth", "--words", "0"],
             ["config", "extra"], ["config", "--set", "mode=fast"]]
    for arguments in wrong:
        message = complaint(work, *arguments, code=2)
        check_in(f"samepage {arguments[0]} --help", message)
        check("did you mean" not in message, arguments, message)
    meant = (["run", "--quite"], "--quiet"), (["pairs", "--thershold", "0.8"], "--threshold"), (["dedup", "--keep", "k"], "--kept")
    for arguments, option in meant:
        check_in(f"did you mean {option}?", complaint(work, *arguments, "crawl.jsonl", code=2))
    for arguments in ["--threshold", "0.9"], ["--threshold=0.9"]:  # a setting; in `pairs` an option
        check_in("did you mean --set similarity.threshold=VALUE?", complaint(work, "run", *arguments, "crawl.jsonl", code=2))
    check_in("did you mean --set input.max_unreadable=VALUE?", complaint(work, "run", "--max-unreadable", "1", "x", code=2))
    check_in('did you mean "run"?', complaint(work, "rnu", "crawl.jsonl", code=2))
    check_in("`samepage config` the settings", complaint(work, "--help-settings", code=2))


def an_unknown_setting_names_the_nearest(work):
    work.crawl(pages=20)
    for wrong, right in [("barier.pages=3", "barrier.pages"), ("mod=exact", "mode"),
                         ("similarity.treshold=0.8", "similarity.threshold"),
                         ("tier1.partition=1", "tier1.partitions")]:
        message = complaint(work, "run", "--set", wrong, "crawl.jsonl", code=2)
        check_in(f'"{wrong.split("=")[0]}"', message)
        check_in(f'"{right}"', message)
        work.write("settings", f"# a comment\n\n{wrong}\n")
        message = complaint(work, "run", "--config", "settings", "crawl.jsonl", code=2)
        check_in("settings:3", message)
        check_in(f'"{right}"', message)


def a_wrong_value_says_what_is_allowed(work):
    work.crawl(pages=20)
    for stage in "signature", "group":
        check_in("must not be empty", complaint(work, stage, "--set", "state.directory=", code=2))
        check_in("longer than 232 bytes", complaint(work, stage, "--set", "topics.prefix=" + 233 * "p", code=2))
    for wrong, parts in [("mode=quick", ["mode", "quick", "exact", "fast"]),
                         ("similarity.threshold=7", ["similarity.threshold", "7", "0", "1"]),
                         ("barrier.pages=x", ["barrier.pages", '"x"', "number"]),
                         ("barrier.pages=0", ["barrier.pages", "0", "1"]),
                         ("partition.cells=0", ["partition.cells", "0", "1"]),
                         ("mode", ["a setting", "key=value", "="])]:  # it may be a password, so it is not printed
        message = complaint(work, "run", "--set", wrong, "crawl.jsonl", code=2)
        for part in parts:
            check_in(part, message)


def a_missing_file_is_named_before_anything_is_done(work):
    work.crawl(pages=20)
    message = complaint(work, "run", "-q", "--state", "state", "-o", "out", "crawl.jsonl",
                        "missing.jsonl")
    check_in("missing.jsonl", message)
    check_in("No such file", message)
    check(not work.exists("out") and not work.exists("state"), "something was done before")
    check_in("No such file", complaint(work, "pairs", "-q", "missing.jsonl"))
    check_in("missing.html", complaint(work, "similar", "crawl.jsonl", "missing.html", code=2))
    os.makedirs(work.path("empty"))
    check_in("holds nothing that can be read", complaint(work, "run", "-q", "-o", "out", "empty"))
    check_in("settings", complaint(work, "run", "--config", "settings", "crawl.jsonl", code=2))
    check_in("Is a directory", complaint(work, "run", "--config", "empty", "crawl.jsonl", code=2))


BROKEN = [b"{", b'{"url":"https://a.example/"', b"[]", b"nonsense", b'{"content":"no url"}',
          b'{"url":"not a url","content":"x"}', b'{"url":17,"content":"x"}',
          b'{"url":"https://a.example/","content":17}', b"\xff\xfe\x00\x01",
          b'{"url":"https://a.example/","content":"x"', b'"just a string"',
          b'{"url":"https://a.example/","http_status":301,"redirect_url":"http://"}']


def broken_lines_become_dead_letters_and_the_rest_is_read(work):
    whole = work.read(work.crawl(pages=400)).splitlines(keepends=True)
    data, expected = b"", []
    for number, line in enumerate(whole):
        if number < len(BROKEN):
            expected.append((len(data), BROKEN[number]))
            data += BROKEN[number] + b"\n"
        data += line
    expected.append((len(data), whole[0][:100]))
    data += whole[0][:100]  # truncated, without a newline
    work.write("broken.jsonl", data)
    work.run("run", "-q", "-o", "want", "crawl.jsonl")
    done = work.run("run", "-q", "-o", "out", "--dead-letter", "dead", "--summary", "summary",
                    "broken.jsonl")
    check_equal(done.err, "", "messages")
    check_equal(statuses(work.read("want")), statuses(work.read("out")), "statuses of the others")
    dead = work.json_lines("dead")
    check_equal([(d["offset"]) for d in dead], [offset for offset, _ in expected], "offsets")
    lines = data.splitlines()
    for letter, (offset, raw) in zip(dead, expected):
        check(letter["file"] == "broken.jsonl", letter)
        check(letter["reason"] and letter["detail"], "no reason:", letter)
        check(lines[letter["record"]] == raw, "not the record's number:", letter)
        check(data[offset:offset + len(raw)] == raw, "this test is wrong about", offset)
        # A record that was read but cannot be used is identified by its URL.
        kept = letter["raw"].encode() if "raw" in letter else base64.b64decode(letter["raw_base64"])
        check(kept == raw or kept == json.loads(raw)["url"].encode(), "raw:", letter)
    summary = json.loads(work.read("summary"))
    check(summary["dead_letters"] == len(expected), summary)
    check(summary["records"] == len(lines), summary)
    # Without the file they are counted, and the message names the option.
    done = work.run("run", "-q", "-o", "out2", "broken.jsonl")
    check_in("--dead-letter", done.err)
    check_in(str(len(expected)), done.err)


def dead_letters_of_compressed_and_of_later_files_are_named_too(work):
    crawl = work.read(work.crawl(pages=100))
    first = crawl.find(b"\n") + 1
    work.write("a.jsonl", crawl[:first] + b"nonsense\n" + crawl[first:])
    work.run("run", "-q", "-o", "out", "--dead-letter", "dead", work.gzip("a.jsonl"), "a.jsonl")
    dead = work.json_lines("dead")
    check_equal([(d["file"], d["record"], d["offset"]) for d in dead],
                [("a.jsonl.gz", 1, first), ("a.jsonl", 1, first)], "dead letters")


def a_truncated_compressed_file_is_read_as_far_as_it_goes(work):
    work.crawl(pages=500)
    for compress in work.gzip, work.zstd:
        name = compress("crawl.jsonl")
        data = work.read(name)
        cut = work.write("cut-" + name, data[:len(data) * 2 // 3])
        work.run("run", "-q", "-o", f"{cut}.out", "--dead-letter", f"{cut}.dead", cut)
        pages = len(statuses(work.read(f"{cut}.out")))
        check(100 < pages < 500, cut, "gives", pages, "pages")
        check(len(work.json_lines(f"{cut}.dead")) in (1, 2), work.read(f"{cut}.dead"))


def a_record_that_is_too_large_is_a_dead_letter(work):
    crawl = work.read(work.crawl(pages=50))
    huge = b'{"url":"https://huge.example/","content":"' + b"word " * 30_000 + b'"}\n'
    work.write("huge.jsonl", huge + crawl + huge)
    work.run("run", "-q", "-o", "out", "--dead-letter", "dead", "--set",
             "input.max_record_bytes=100000", "huge.jsonl")
    dead = work.json_lines("dead")
    check_equal([d["offset"] for d in dead], [0, len(huge) + len(crawl)], "offsets")
    check_in("input.max_record_bytes", dead[0]["detail"])
    work.run("run", "-q", "-o", "want", "crawl.jsonl")
    check_equal(statuses(work.read("want")), statuses(work.read("out")), "statuses")


def a_method_says_what_it_cannot_do(work):
    work.crawl(pages=20)
    method = ["--set", "similarity.method=simhash"]
    for wrong, parts in [("partition.cells=4", ["partition.cells", "simhash", "set it to 1"]),
                         ("similarity.threshold=0.8", ["similarity.threshold", "0.8", "0.890625",
                                                       "0.953125"])]:
        message = complaint(work, "run", "-q", *method, "--set", wrong, "crawl.jsonl")
        for part in parts:
            check_in(part, message)
    for command in (["pairs", "-q"], ["similar", "crawl.jsonl"]):
        message = complaint(work, *command, "--threshold" if command[0] == "pairs" else "--set",
                            "0.1" if command[0] == "pairs" else "similarity.threshold=0.1",
                            "crawl.jsonl", code=1 if command[0] == "pairs" else 2)
        check_in("from 0.3 to 1", message)


def a_state_of_another_configuration_names_keys_values_and_what_to_do(work):
    work.crawl(pages=50)
    work.run("run", "-q", "--state", "state", "-o", "out", "crawl.jsonl")
    message = complaint(work, "run", "-q", "--state", "state", "-o", "out", "--set",
                        "similarity.threshold=0.7", "--set", "mode=fast", "crawl.jsonl")
    check_in("similarity.threshold was 0 and is now 0.7", message)
    check_in("mode was exact and is now fast", message)
    check_in("use the same setting, or another --state directory", message)
    check("partition.cells" not in message, "what is equal is no news:", message)
    # Settings that do not change the meaning of the state may change.
    work.run("run", "-q", "--state", "state", "-o", "out", "--set", "threads=2", "--set",
             "barrier.pages=7", "--set", "cache.bytes=8MiB", "crawl.jsonl")


def a_state_of_another_format_says_what_to_do(work):
    work.crawl(pages=50)
    arguments = ["run", "-q", "--state", "state", "-o", "out", "crawl.jsonl"]
    work.run(*arguments)
    good = work.read("state/FORMAT")
    check_in("samepage state 6\n", good.decode())
    for other in b"5", b"7":
        line = b"samepage state " + other + b"\n"
        work.write("state/FORMAT", good.replace(b"samepage state 6\n", line))
        message = complaint(work, *arguments)
        for part in "state format " + other.decode(), "uses 6", "--state":
            check_in(part, message)
    for damaged in b"", b"nonsense\n", good[:5], b"\0" * 100:
        work.write("state/FORMAT", damaged)
        message = complaint(work, *arguments)
        check_in("state/FORMAT", message)
        check_in("--state", message)
    work.write("state/FORMAT", good)
    work.run(*arguments)


def a_directory_that_is_not_ours_is_left_alone(work):
    work.crawl(pages=50)
    os.mkdir(work.path("home"))
    work.write("home/letters.txt", b"dear")
    message = complaint(work, "run", "-q", "--state", "home", "-o", "out", "crawl.jsonl")
    check_in("letters.txt", message)
    check_in("--state", message)
    check_equal(os.listdir(work.path("home")), ["letters.txt"], "files in it")
    message = complaint(work, "run", "-q", "--state", "crawl.jsonl", "-o", "out", "crawl.jsonl")
    check_in("it is a file", message)
    # An empty directory is accepted, and one that does not exist is created with its parents.
    os.mkdir(work.path("empty"))
    work.run("run", "-q", "--state", "empty", "-o", "out", "crawl.jsonl")
    work.run("run", "-q", "--state", "new/and/deep", "-o", "out", "crawl.jsonl")


def a_state_in_use_names_the_process(work):
    crawl = work.crawl(pages=300)
    process = work.start("run", "-q", "--state", "state", "-o", "out", "-",
                         stdin=subprocess.PIPE)
    try:
        while not work.exists("out"):  # opened after the state
            check(process.poll() is None, "the first run ended")
        message = complaint(work, "run", "-q", "--state", "state", "-o", "out2", crawl)
        check_in(f"process id {process.pid}", message)
        check_in("--state", message)
        process.stdin.write(work.read(crawl))
        process.stdin.close()
        check(process.wait() == 0, "the first run failed")
    finally:
        process.kill()
        process.wait()
    work.run("run", "-q", "--state", "state", "-o", "out", crawl)
    work.run("run", "-q", "-o", "want", crawl)
    check_equal(statuses(work.read("want")), statuses(work.read("out")), "statuses")


def an_output_shorter_than_at_the_last_barrier_is_refused(work):
    work.crawl(pages=300)
    work.write("broken.jsonl", b"nonsense\n" + work.read("crawl.jsonl"))
    arguments = ["run", "-q", "--state", "state", "-o", "out", "--dead-letter", "dead",
                 "broken.jsonl"]
    work.run(*arguments)
    for name in "out", "dead":
        good = work.read(name)
        check(good, name, "is empty")
        for short in good[:-1], b"":
            work.write(name, short)
            message = complaint(work, *arguments)
            check_in(f"{name}: is shorter than", message)
            check_in("--state", message)
            check_equal(work.read(name), short, "the file is left alone")
        work.write(name, good)
    work.run(*arguments)


def an_output_that_cannot_be_written_is_an_error(work):
    work.crawl(pages=3000, words=20)
    for option in "-o", "--groups", "--dead-letter", "--summary":
        output = [] if option == "-o" else ["-o", "out"]
        message = complaint(work, "run", "-q", *output, option, "missing/file", "crawl.jsonl")
        check_in("missing/file", message)
        check_in("cannot be written", message)
    if not os.path.exists("/dev/full") or os.path.isfile("/dev/full"):
        raise Skip("there is no /dev/full")
    for arguments in (["run", "-q", "-o", "/dev/full", "crawl.jsonl"],
                      ["run", "-q", "-o", "out", "--groups", "/dev/full", "crawl.jsonl"],
                      ["run", "-q", "-o", "out", "--summary", "/dev/full", "crawl.jsonl"],
                      ["pairs", "-q", "-o", "/dev/full", "crawl.jsonl"],
                      ["synth", "-o", "/dev/full"],
                      ["synth", "-o", "out", "--truth", "/dev/full"]):
        check_in("cannot be written", complaint(work, *arguments))
    check(not os.path.isfile("/dev/full"), "the device was replaced by a file")
    for arguments in (["run", "-q", "crawl.jsonl"], ["pairs", "-q", "crawl.jsonl"], ["synth"],
                      ["config"], ["--version"], ["--help"], ["similar", "crawl.jsonl", "crawl.jsonl"], ["run", "--help"]):
        with open("/dev/full", "wb") as full:
            code = work.start(*arguments, stdout=full).wait()
        want = 2 if arguments[0] == "similar" else 1  # by which it says "not near duplicates"
        check(code == want, arguments, "to a full standard output: exit code", code)


def a_limit_of_the_system_is_said(work):
    """The signal of a file that may not grow would end the program without a word, an exception of RocksDB with one
    of the library."""
    def limited(*limits):
        return lambda: [resource.setrlimit(which, (most, most)) for which, most in limits]

    work.crawl(pages=3000, words=20)
    work.run("run", "-q", "-o", "want", "crawl.jsonl")
    arguments = ["run", "-q", "--state", "state", "-o", "out", "crawl.jsonl"]
    for command in ["run", "-q", "-o", "out2", "crawl.jsonl"], arguments:
        process = work.start(*command, stderr=subprocess.PIPE, preexec_fn=limited((resource.RLIMIT_FSIZE, 1 << 16)))
        said = process.communicate(timeout=PATIENCE_SECONDS)[1].decode()
        check_equal(process.returncode, 1, f"exit code of {command}: {said}")
        check_in("File too large", said)
    work.run(*arguments)
    check_equal(work.read("want"), work.read("out"), "statuses after the limit was lifted")
    memory = limited((resource.RLIMIT_AS, 150 << 20), (resource.RLIMIT_CORE, 0))
    if work.start("--version", preexec_fn=memory).wait():
        return  # an address sanitizer needs more
    process = work.start("run", "-q", "--state", "other", "-o", "out3", "crawl.jsonl", stderr=subprocess.PIPE,
                         preexec_fn=memory)
    said = process.communicate(timeout=PATIENCE_SECONDS)[1].decode()
    check_equal(process.returncode, 1, f"exit code with little memory: {said}")
    check(re.search(r"samepage: .*(memory|thread)", said), "with little memory it says", said)


def little_address_space_is_said(work):
    """Whatever finds no memory, be it the constructor of a library, is the reason of a message, and of no crash."""
    if b"__asan_init" in open(work.program, "rb").read() or b"__tsan_init" in open(work.program, "rb").read():
        raise Skip("sanitizers reserve address space")
    work.crawl(pages=300)
    work.run("run", "-q", "--state", "first", "-o", "out", "crawl.jsonl")
    said = set()
    for megabytes in range(45, 105, 5) if FEW else range(40, 160, 2):
        limit = megabytes << 20
        status = ["status", "--all", "--set", "kafka.bootstrap.servers=127.0.0.1:1"]  # nobody listens there
        for arguments in (["--version"], ["rules", "--state", "first"],
                          *([status] if megabytes < 90 else []),  # with more it waits for a broker
                          ["run", "-q", "--state", f"state-{megabytes}", "-o", f"out-{megabytes}", "crawl.jsonl"]):
            done = subprocess.run([work.program, *arguments], cwd=work.directory, capture_output=True, text=True,
                                  check=False, timeout=PATIENCE_SECONDS,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
            if "error while loading shared libraries" in done.stderr:  # the loader, before our code
                continue
            check(done.returncode in (0, 1), arguments, "with", megabytes, "MiB ends with", done.returncode, done.stderr)
            ends = re.search("^samepage: (out of memory|no more threads|no thread|Kafka: no broker)", done.stderr, re.M)
            check(done.returncode == 0 or ends, arguments, "with", megabytes, "MiB says", done.stderr)
            said.add(done.stderr.split(";")[0])
    check(any("out of memory: a library got none" in text for text in said), "what was said:", said)


def a_line_without_an_end_does_not_fill_the_memory(work):
    """Of files that are not read as inputs are; theirs is limited as a record is."""
    work.crawl(pages=50)
    work.write("long", b"word " * 60_000)
    limit = ["--set", "input.max_record_bytes=100000"]
    check_in("long: is longer than input.max_record_bytes", complaint(work, "similar", *limit, "long", "long", code=2))
    check_in("long: has a line longer than input.max_record_bytes",
             complaint(work, "audit", "-q", *limit, "--removed", "long", "crawl.jsonl"))
    work.run("run", "-q", "--state", "state", "-o", "out", "crawl.jsonl")
    page = work.json_lines("crawl.jsonl")[0]["url"]
    work.write("names", b"http://" + b"a" * 300_000 + b".example/\n" + page.encode() + b"\n")
    done = work.run("forget", "--state", "state", "-o", "out", "--forget", "names")
    check_in("1 pages forgotten", done.err)


def a_state_that_cannot_be_made_is_an_error(work):
    work.crawl(pages=50)
    for directory in "crawl.jsonl/state", "/proc/samepage", "":
        message = complaint(work, "run", "-q", "--state", directory, "-o", "out", "crawl.jsonl")
        check_in(f"cannot create the state directory {directory}", message)
        check_in("use another --state directory (of a stage: state.directory)", message)
    if os.geteuid() == 0:
        return  # root can write everywhere
    os.mkdir(work.path("readonly"), 0o555)
    message = complaint(work, "run", "-q", "--state", "readonly", "-o", "out", "crawl.jsonl")
    check_in("readonly", message)
    check_in("right to write", message)


def a_file_of_a_folder_that_cannot_be_read_is_named(work):
    if os.geteuid() == 0:
        raise Skip("root can read everything")
    os.mkdir(work.path("texts"))
    for name in "texts/a.txt", "texts/b.txt":
        work.write(name, "some words of a text")
    os.chmod(work.path("texts/b.txt"), 0)
    check_in("texts/b.txt: cannot be read: Permission denied", complaint(work, "pairs", "texts"))


def groups_can_go_to_a_pipe(work):
    crawl = work.crawl(pages=100)
    work.run("run", "-q", "-o", "out", "--groups", "groups", crawl)
    os.mkfifo(work.path("fifo"))
    process = work.start("run", "-q", "-o", "out", "--groups", "fifo", crawl)
    check_equal(work.read("fifo"), work.read("groups"), "groups")
    check(process.wait() == 0, "exit code")
    done = work.run("run", "-q", "-o", "out", "--groups", "-", crawl)
    check_equal(done.out.encode(), work.read("groups"), "groups on standard output")


def an_empty_input_is_no_error(work):
    for content in b"", b"\n\n", b" \n":
        name = work.write("empty.jsonl", content)
        for state in [], ["--state", f"state-{len(content)}"]:
            work.run("run", "-q", "-o", "out", "--groups", "groups", "--verify", *state, name)
            check_equal(work.read("out") + work.read("groups"), b"", "outputs")
        check_equal(work.run("pairs", "-q", name).out, "", "pairs")
    check_equal(work.run("run", "-q", "-", stdin=b"").out, "", "standard input")


def an_input_without_a_record_is_said(work):
    crawl = work.crawl(pages=20)
    for name, content in ("nothing.jsonl", b""), ("blank.jsonl", b"\n \n"):
        work.write(name, content)
        done = work.run("run", "-q", "-o", "out-" + name, crawl, name)
        check_equal(done.err, f"samepage: {name}: it contains no record of a page\n", "message")
    done = work.run("run", "-q", "-o", "out", "nothing.jsonl", crawl, "blank.jsonl")
    check_in("samepage: nothing.jsonl: it contains no record of a page, and neither do other inputs", done.err)
    args = "run", "-q", "-o", "out2", "--state", "state", crawl
    for _ in range(2):  # the second call changes nothing
        check_equal(work.run(*args).err, "", "message where all was handled before")


def a_tar_archive_is_named(work):
    crawl = work.crawl(pages=20)
    for kind in "tar", "tar.gz":
        for layout in tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT:
            mode = "w:gz" if kind.endswith("gz") else "w"
            with tarfile.open(work.path(f"crawl.{kind}"), mode, format=layout) as tar:
                tar.add(work.path(crawl), arcname=crawl)
            message = complaint(work, "run", "-q", "-o", "out", f"crawl.{kind}")
            check_in(f"crawl.{kind} is a tar archive; unpack it", message)
            with open(work.path(f"crawl.{kind}"), "rb") as f:
                done = work.run("run", "-q", "-o", "out", "-", stdin=f.read(), code=1)
            check_in("is a tar archive", done.err)
    check(not work.exists("out") or work.read("out") == b"", "something was written")
    # What the message offers.
    unpacked = subprocess.run(["tar", "-xOzf", work.path("crawl.tar.gz")], check=True,
                              stdout=subprocess.PIPE).stdout
    work.run("run", "-q", "-o", "piped", "-", stdin=unpacked)
    work.run("run", "-q", "-o", "whole", crawl)
    check_equal(work.read("piped"), work.read("whole"), "output")


def too_large_a_share_of_unreadable_records_is_an_error(work):
    good = work.read(work.crawl(pages=30)).splitlines(keepends=True)
    bad = [b"nonsense\n"] * (len(good) // 3)  # a quarter
    work.write("mixed.jsonl", b"".join(good + bad))
    everything = len(good) + len(bad)
    share = len(bad) / everything
    work.run("run", "-q", "-o", "any", "mixed.jsonl")
    work.write("list", "https://a.example/\n" + json.loads(good[0])["url"] + "\n")
    for command in sorted(READERS.keys() - {"archive"}):
        options = [f"{command}.out" if o in ("out", "kept", "map", "report") else o for o in READERS[command]]
        for limit, code in (share + 0.001, 0), (share - 0.001, 1), (0, 1), (1, 0):
            if command == "run":
                options = ["-o", f"run{limit}"]
            done = work.run(command, "-q", *options, "--set", f"input.max_unreadable={limit}",
                            "mixed.jsonl", code=code)
            said = f"{len(bad)} of {everything} records could not be read ({100 * share:.3g} %): more than"
            check((said in done.err) == bool(code), f"{command}, {limit}: {done.err}")
            if command == "run":  # all other pages were processed
                check_equal(work.read(f"run{limit}"), work.read("any"), "output")


READERS = {
    "run": ["-o", "out"], "pairs": [], "cover": ["-o", "out", "--relation", "jaccard(a, b) > 0.9"],
    "dedup": ["--kept", "kept"], "audit": ["--kept", "list"], "train": ["-o", "map"],
    "evaluate": ["--only", "traces", "--report", "report"], "archive": ["-o", "archive"],
}

# Inputs that people try first: what each holds, the commands that can read it, and the {reason} of the others.
UNREADABLE = (
    ("text.jsonl", b'{"text":"a page"}\n' * 3, {"dedup", "audit"}, '3: the line has no "url", nor a field that looks '
     "like an id: --id-field NAME names one; `samepage dedup` reads documents without ids"),
    ("id.jsonl", b'{"id":"1","text":"a page"}\n' * 3, {"dedup", "audit"}, '3: the line has no "url" and no "content"; '
     'it has "id" and "text", which may be what is meant: rename them, or give --id-field id --text-field text'),
    ("uri.jsonl", b'{"uri":"http://a.example/","content":"a page"}\n', {"dedup", "audit"}, '1: the line has no "url"; it has '
     '"uri", which may be what is meant: rename it, or give --id-field uri'),
    ("like.jsonl", b'{"url":"http://a.example/","html":"a page"}\n' * 3, set(),
     '3: the page has no "content"; it has "html"'),
    ("strings.json", b'["a page"]\n', set(), "1: the line is not a JSON object"),
    ("array.json", b'[{"url":"http://a/"},\n{"url":"http://b/"}]\n', set(), '2: the page has no "content"'),
    ("page.html", b"<html>\n<p>some text</p>\n</html>\n", set(READERS) - {"archive"}, "1: "),
)
NAMED = (
    ("crawl.parquet", b"PAR1" + bytes(64), "a Parquet file"), ("crawl.tar", None, "a tar archive"),
    ("table.csv", b"address,words\nhttp://a.example/,one\n",
     'a table without a column "content": its first line, which should name the columns, is address,words; give '
     "--text-field NAME for the text, and --id-field NAME for the ids"),
    ("bars.csv", b"id|text\n1|one\n",
     'a table without a column "content": its first line, which should name the columns, is id|text; give --text-field '
     "NAME for the text, and --id-field NAME for the ids; names are separated by commas, semicolons or tabs"),
    ("table", b"id\tbody\n1\tone\n",
     'a table without a column "content": its first line, which should name the columns, is id\tbody'),
    ("sitemap.xml", b'<?xml version="1.0"?>\n<urlset><url><loc>http://a/</loc></url></urlset>\n', "XML or HTML, but not the dump of"),
    ("wide.csv", "url,content\nhttp://a.example/,one\n".encode("utf-16"), "UTF-16; convert it: iconv"),
)


def every_command_says_why_nothing_could_be_read(work):
    work.write("list", "http://a.example/\n")
    work.write("crawl.txt", "a page\n")
    with tarfile.open(work.path("crawl.tar"), "w") as tar:
        tar.add(work.path("crawl.txt"), arcname="crawl.txt")
    for command, options in READERS.items():
        for name, content, readable, reason in UNREADABLE:
            case = f"{command} {name}"
            work.write(name, content)
            if command in readable:
                ids = {"id.jsonl": "1", "page.html": "doc:page.html"}
                work.write("list", ids.get(name, "0") + "\n")  # as audit --kept reads it
                check_equal(work.run(command, "-q", *options, name).err, "", case)
                continue
            done = work.run(command, "-q", *options, name, code=1)
            if command == "archive":
                reason = "1: this file does not begin with a WARC record; only WARC files can be archived"
            count = reason.split(":")[0]
            check_in(f"samepage: {count} of {count} records could not be read", done.err)
            check_in(f"samepage:   {reason}", done.err)
            check_in({"audit": "the input holds no document that can be read",
                      "train": f"none of {count} records is a page with content"}.get(
                          command, "samepage: no record of the input could be read"), done.err)
        for name, content, message in NAMED:
            if content:
                work.write(name, content)
            check_in(f"{name} is {message}", work.run(command, "-q", *options, name, code=1).err)
        work.write("nothing.jsonl", b"")
        code = 1 if command in ("audit", "train") else 0  # these commands need a broker
        done = work.run(command, "-q", *options, "nothing.jsonl", code=code)
        check_in("audit" == command and "no document" or "train" == command and "none of 0 records" or
                 "samepage: nothing.jsonl: it contains no record of a page", done.err)


def dedup_suggests_a_field_for_texts_without_ids(work):
    work.write("link.jsonl", b'{"link":"http://a.example/","body":"a page"}\n')
    done = work.run("dedup", "-q", "--kept", "kept", "link.jsonl", code=1)
    check_in('1: the page has no "content"; it has "body", which may be what is meant: rename it, or give '
             "--text-field body", done.err)


def a_page_without_content_is_a_dead_letter_that_names_the_field(work):
    work.write("like.jsonl", "".join(json.dumps(line) + "\n" for line in (
        {"url": "https://a.example/1", "text": "x"}, {"url": "https://a.example/2", "html": "x"},
        {"url": "https://a.example/3"}, {"url": "https://a.example/4", "content": "", "text": "x"},
        {"url": "https://a.example/5", "http_status": 404},
        {"url": "https://a.example/6", "text": "x"})))
    done = work.run("run", "-o", "out", "--dead-letter", "dead", "like.jsonl")
    dead = work.json_lines("dead")
    check_equal([d["record"] for d in dead], [0, 1, 2, 5], "dead letters")
    check_in('it has "text"', dead[0]["detail"])
    check_in('it has "html"', dead[1]["detail"])
    check_in('the page has no "content"', dead[2]["detail"])
    check_in("--text-field html", dead[1]["detail"])
    check_in('samepage: 4 of 6 records could not be read\nsamepage:   2: the page has no "content"; it '
             'has "text"', done.err)
    check_in("rename it, or give --text-field text; the first: like.jsonl, record 0 (from 0)", done.err)
    work.run("run", "-o", "named", "--dead-letter", "lacking", "--text-field", "html", "like.jsonl")
    lacking = work.json_lines("lacking")
    check_equal([d["record"] for d in lacking], [0, 2, 3, 5], "dead letters of --text-field")
    for d in lacking:
        check_in("--text-field", d["detail"])
        check("rename" not in d["detail"], "another field was named", d)


def the_first_record_of_each_kind_that_cannot_be_read_is_named(work):
    good = [json.dumps({"url": "https://a.example/%d" % i, "content": "x"}) for i in range(3)]
    work.write("a.jsonl", good[0] + "\n")
    work.write("b.jsonl", good[1] + "\nnonsense\n{}\nmore\n")
    for arguments in (["pairs"], ["run", "-o", "out", "--state", "s"]):
        said = work.run(*arguments, "a.jsonl", "b.jsonl").err
        check_in("2: the line is not a JSON object; the first: b.jsonl, record 1 (from 0)", said)
        check_in("; the first: b.jsonl, record 2 (from 0)", said)
    with open(work.path("b.jsonl"), "a", encoding="utf-8") as file:
        file.write(good[2] + "\nnonsense\n")
    said = work.run("run", "-o", "out", "--state", "s", "a.jsonl", "b.jsonl").err
    check_in("1: the line is not a JSON object; the first: b.jsonl, record 5 (from 0)", said)


def what_a_name_would_do_to_a_terminal_is_not_in_messages(work):
    """Names of files and of columns come from whoever made the collection."""
    name = "title\x1b]0;owned\x07\x9b31m\x7f\r.csv"
    work.write(name, "")
    work.write("b" + name, "nonsense\x1b[2J,\x1b[31mred\n1,2\n")
    for arguments in (["run", name], ["run", "b" + name], ["run", "c" + name], ["dedup", name, "b" + name, "--kept", "k"],
                      ["pairs", "b" + name], ["run", "--state", name, name], ["similar", name, "c" + name]):
        process = work.start(*arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        _, said = process.communicate(timeout=PATIENCE_SECONDS)
        check(said, "no message for", arguments)
        check(not re.search(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]", said), arguments, "writes", said)


def an_input_without_any_usable_page_is_no_error(work):
    lines = [{"url": "https://a.example/1", "content": "x", "http_status": 500},
             {"url": "https://a.example/2", "content": "x", "http_status": 304},
             {"url": "https://a.example/3", "content": "x", "content_type": "image/png"}]
    work.write("useless.jsonl", "".join(json.dumps(line) + "\n" for line in lines) + "nonsense\n")
    work.run("run", "-q", "-o", "out", "--groups", "groups", "--dead-letter", "dead", "--verify",
             "--summary", "summary", "useless.jsonl")
    check_equal(work.read("out") + work.read("groups"), b"", "outputs")
    summary = json.loads(work.read("summary"))
    check(summary["ignored"] == 2 and summary["again_unknown"] == 1 and summary["dead_letters"] == 1 and summary["records"] == 4,
          summary)


def an_output_that_holds_another_run_is_named(work):
    work.crawl(pages=200)
    work.write("bad.jsonl", "not json\n")
    arguments = ["run", "-q", "-o", "out", "--dead-letter", "letters", "crawl.jsonl", "bad.jsonl"]
    check("out" not in work.run(*arguments).err, "the output was empty")
    first, letters = work.read("out"), work.read("letters")
    again = work.run(*arguments).err
    check_in(f"samepage: out: was not empty: what this run wrote begins at byte {len(first)}; for a file", again)
    check_in(f"letters: was not empty: what this run wrote begins at byte {len(letters)};", again)
    check_equal(work.read("out"), first + first, "the same events again")
    # A state knows what it wrote, in whichever run.
    state = [*arguments, "--state", "state"]
    check_in("begins at byte", work.run(*state).err)
    check("begins at byte" not in work.run(*state).err, "the output is that of the state")
    work.run("synth", "--pages", "100", "-o", "more.jsonl")
    check("begins at byte" not in work.run(*state, "more.jsonl").err, "the output is that of the state")


def two_runs_with_one_output_are_refused(work):
    crawl = work.crawl(pages=50)
    first = work.start("run", "-q", "--state", "one", "-o", "out", "-", stdin=subprocess.PIPE)
    until(lambda: work.exists("one/rocksdb/CURRENT"), "the first run, which opens its output next")
    until(lambda: work.exists("out"), "the first run's output")
    with open(work.path("out"), "rb") as out:  # locked just after it was created
        def locked():
            try:
                fcntl.flock(out, fcntl.LOCK_SH | fcntl.LOCK_NB)
                fcntl.flock(out, fcntl.LOCK_UN)
                return False
            except BlockingIOError:
                return True
        until(locked, "a lock on the output")
    message = complaint(work, "run", "-q", "-o", "out", crawl)
    check_in("out: is being written by another samepage process", message)
    first.communicate(b"")
    work.run("run", "-q", "-o", "out", crawl)
    check_in("named for two outputs", complaint(work, "run", "-q", "-o", "b", "--dead-letter", "b", crawl, code=2))
    # before the file exists, too
    check_in("named for two outputs", complaint(work, "run", "-q", "-o", "b", "--dead-letter", "./b", crawl, code=2))
    check_in("named for two outputs", complaint(work, "synth", "--pages", "1", "-o", "b", "--truth", "./b", code=2))
    check(not work.exists("b"), "nothing was written")


def what_another_job_wrote_to_an_output_is_kept(work):
    """Only what a killed run has written behind the last barrier is truncated."""
    first, second, third = (work.crawl(f"{seed}.jsonl", seed=seed, pages=30) for seed in (1, 2, 3))
    work.run("run", "-q", "--state", "a", "-o", "out", first)
    work.run("run", "-q", "--state", "b", "-o", "out", second)
    before = work.read("out")
    message = complaint(work, "run", "-q", "--state", "a", "-o", "out", third)
    check_in("another job has written to it", message)
    check_equal(work.read("out"), before, "the output of both jobs")
    work.run("run", "-q", "--state", "b", "-o", "out", third)
    for command in re.findall("truncate -s [0-9]+ out", message):
        subprocess.run(command.split(), cwd=work.path(""), check=True)
    work.run("run", "-q", "--state", "a", "-o", "out", third)
    alone = work.run("run", "-q", "-o", "-", first, third).out
    check_equal(work.read("out").decode(), alone, "the output of the first job")

    work.run("dedup", "-q", "--state", "d", "--kept", "kept", first)
    with open(work.path("kept"), "ab") as kept:
        kept.write(b"mine\n")
    message = complaint(work, "dedup", "-q", "--state", "d", "--kept", "kept", second)
    check_in("another job has written to it", message)
    check(work.read("kept").endswith(b"mine\n"), "what was appended")


def an_input_that_has_become_shorter_is_an_error(work):
    """It is known by its first bytes, so that a longer one is read on."""
    lines = [json.dumps({"url": f"http://a.example/{i}", "content": f"some words of page {i}"}) + "\n"
             for i in range(400)]
    for command, output in ("run", "-o"), ("dedup", "--kept"):
        work.write("in.jsonl", "".join(lines[:200]))
        arguments = command, "-q", "--state", f"state.{command}", output, f"out.{command}", "in.jsonl"
        work.run(*arguments)
        work.write("in.jsonl", "".join(lines[:120]))
        message = complaint(work, *arguments)
        check_in("in.jsonl: 200 records were read from it before, and now it has only 120", message)
        work.write("in.jsonl", "".join(lines))
        work.run(*arguments)
        work.run("dedup", "-q", "--kept", "all", "in.jsonl")
        if command == "dedup":
            check_equal(work.read("out.dedup"), work.read("all"), "what is kept of the whole file")


def links_to_files_in_a_folder_are_read(work):
    os.makedirs(work.path("folder"))
    work.write("real.jsonl", json.dumps({"url": "http://a.example/", "content": "some words"}) + "\n")
    work.write("real.txt", "some other words\n")
    for link, target in ("a.jsonl", "../real.jsonl"), ("b.txt", "../real.txt"), ("loop", "."), ("lost.txt", "nowhere"):
        os.symlink(target, work.path(f"folder/{link}"))
    work.run("run", "-q", "-o", "out", "folder")
    check_equal(sorted(statuses(work.read("out").decode())), ["doc:folder/b.txt", "http://a.example/"], "pages")


def an_output_is_no_file_of_the_state(work):
    crawl = work.crawl(pages=20)
    work.run("run", "-q", "--state", "state", "-o", "out", crawl)
    for name in ("state/FORMAT", "./state/../state/BARRIER", "state/rocksdb/CURRENT", "state/rocksdb/new"):
        message = complaint(work, "run", "-q", "--state", "state", "-o", name, crawl)
        check_in(f"{name}: is a file of the state in state; name another output", message)
    message = complaint(work, "dedup", "-q", "--state", "state", "--kept", "state/LOCK", crawl)
    check_in("is a file of the state", message)
    work.run("run", "-q", "--state", "state", "-o", "state/out", crawl)  # beside its files, as users do


def a_closed_standard_stream_is_none_of_our_files(work):
    """The number of a closed descriptor is that of the next file that is opened, such as the state's LOCK."""
    crawl = work.crawl(pages=50)

    def run(redirection, *arguments):
        process = work.start("sh", "-c", f'exec "$0" "$@" {redirection}', work.program, *arguments, program=True,
                             stderr=subprocess.PIPE)
        err = process.communicate()[1].decode()
        return process.returncode, err

    code, err = run("<&-", "run", "-q", "--state", "one", "--dead-letter", "dead", "-o", "out", "-")
    check_equal(code, 1, "exit code without standard input")
    check_in("-: cannot be read: Bad file descriptor", err)
    code, err = run("<&- >&-", "run", "-q", "--state", "two", crawl)
    check_equal(code, 1, "exit code without standard output")
    check_in("-: cannot be written: Bad file descriptor", err)
    check_equal(run("<&- >&- 2>&-", "run", "--state", "three", "-o", "out3", crawl)[0], 0, "exit code with an output")
    work.run("run", "-q", "-o", "expected", crawl)
    check_equal(work.read("out3"), work.read("expected"), "the output")


def an_output_that_is_an_input_is_refused(work):
    crawl = work.crawl(pages=50)
    before = work.read(crawl)
    os.symlink(work.path(crawl), work.path("link"))
    for arguments in (["run", "-o", crawl], ["run", "--groups", "link"], ["run", "--summary", crawl],
                      ["run", "--dead-letter", crawl], ["pairs", "-o", crawl], ["pairs", "--sets", crawl],
                      ["cover", "--relation", "jaccard(a, b) > 0.9", "-o", crawl],
                      ["cover", "--relation", "jaccard(a, b) > 0.9", "--summary", "link"],
                      ["dedup", "--kept", crawl], ["dedup", "--clusters", "link"], ["train", "-o", crawl],
                      ["audit", "--removed", "/dev/null", "--json", crawl]):
        check_in("is an input and an output", complaint(work, *arguments, crawl))
        check_equal(work.read(crawl), before, f"the input after {arguments}")


def states_and_outputs_are_for_their_owner_only(work):
    crawl = work.crawl(pages=50)
    os.umask(0)
    work.run("run", "-q", "--state", "state", "-o", "out", "--dead-letter", "dead", "--groups", "groups",
             crawl)
    modes = {name: oct(os.stat(work.path(name)).st_mode & 0o777)
             for name in ("state", "out", "dead", "groups", "state/FORMAT", "state/LOCK")}
    check_equal(modes, {name: "0o700" if name == "state" else "0o600" for name in modes}, "modes")


def a_link_in_the_place_of_unfinished_groups_is_not_followed(work):
    crawl = work.crawl(pages=50)
    work.write("victim", "precious")
    os.symlink(work.path("victim"), work.path("groups.unfinished"))
    work.run("run", "-q", "-o", "out", "--groups", "groups", crawl)
    check_equal(work.read("victim"), b"precious", "the file that the link names")
    check(len(work.json_lines("groups")) > 10, "groups")


def fetches(work, name, *given):
    """A crawl of (page, time or None, content or HTTP status)."""
    lines = []
    for page, time, content in given:
        line = {"url": f"https://a.example/{page}", "fetch_time_ms": time}
        line |= {"http_status": content} if isinstance(content, int) else {"content": content}
        lines.append(json.dumps(line) + "\n")
    return work.write(name, "".join(lines))


def a_time_that_cannot_be_is_a_dead_letter_and_freezes_no_page(work):
    fetches(work, "times.jsonl", ("a", 1, "first"), ("a", 2**63 - 1, "never"), ("a", 2**43, "nor this"),
            ("a", None, "second"), ("a", 2**43 - 1, 404), ("b", 2**63 - 1, "never"), ("b", 5, "b"))
    work.run("run", "-q", "-o", "out", "--dead-letter", "dead", "--verify", "times.jsonl")
    check_equal(statuses(work.read("out").decode()),
                {"https://a.example/a": (2**43 - 1, "gone", None, None, None),
                 "https://a.example/b": (5, "unique", None, None, None)}, "statuses")
    dead = work.json_lines("dead")
    check_equal([d["record"] for d in dead], [1, 2, 5], "dead letters")
    check_in("after the year 2248", dead[0]["detail"])


def of_two_fetches_of_one_millisecond_the_later_read_wins(work):
    text = "some words that are the same on both of these pages " * 3
    fetches(work, "tie.jsonl", ("a", 7, "nothing like it"), ("b", 3, text), ("a", 7, text), ("a", 7, text),
            ("c", 9, 404), ("c", 9, text))
    work.run("run", "-q", "-o", "out", "--summary", "summary", "--verify", "tie.jsonl")
    found = statuses(work.read("out").decode())
    check_equal(found["https://a.example/a"][0], 8, "the version of a tie")
    check_equal(sorted(v[1] for v in found.values()), ["loser", "loser", "winner"], "statuses")
    check_equal(json.loads(work.read("summary"))["late"], 1, "fetches that said nothing new")


def a_time_far_ahead_of_the_stream_is_a_dead_letter(work):
    day = 86400000
    fetches(work, "ahead.jsonl", ("a", day, "x"), ("a", 400 * day, "far ahead"), ("a", 2 * day, "y"))
    fetches(work, "later.jsonl", *((f"b{i}", 400 * day + i, "z") for i in range(101)), ("a", 3 * day, 404))
    common = ["run", "-q", "--state", "state", "-o", "out", "--dead-letter", "dead", "--set",
              f"input.max_future_ms={day}"]
    work.run(*common, "ahead.jsonl")
    check_equal([d["record"] for d in work.json_lines("dead")], [1], "dead letters")
    check_in("input.max_future_ms", work.json_lines("dead")[0]["detail"])
    work.run(*common, "ahead.jsonl", "later.jsonl")
    found = statuses(work.read("out").decode())
    check_equal(len(work.json_lines("dead")), 1 + 99, "dead letters before the stream has moved on")
    check_equal(found["https://a.example/a"][:2], (3 * day, "gone"), "an older time is always taken")
    check_equal(sorted(u[-3:] for u in found if "/b" in u), ["100", "b99"], "the hundredth and on")


def a_page_longer_than_text_max_bytes_is_cut_and_counted(work):
    head = "word " * 400
    pages = [head + "a tail of its own " * 400, head + "some other tail " * 400, head[:1000]]
    work.write("long.jsonl", "".join(json.dumps({"url": f"https://a.example/{i}", "content": page}) +
                                     "\n" for i, page in enumerate(pages)))
    for size, cut, loser in ("1KiB", 2, "loser"), ("16KiB", 0, "unique"):
        work.run("run", "-q", "-o", "out", "--summary", "summary", "--set", f"text.max_bytes={size}",
                 "long.jsonl")
        check_equal(json.loads(work.read("summary"))["cut"], cut, f"pages cut at {size}")
        check_equal(statuses(work.read("out").decode())["https://a.example/1"][1], loser, size)
        os.remove(work.path("out"))


def pages_without_words_are_alone(work):
    lines = [{"url": f"https://a.example/{i}", "content": text} for i, text in
             enumerate(["", "", "<html></html>", "one", "one", "two"])]
    work.write("short.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    work.run("run", "-q", "-o", "out", "--groups", "groups", "--verify", "short.jsonl")
    sizes = sorted(len(g["members"]) for g in work.json_lines("groups"))
    check_equal(sizes, [1, 1, 1, 1, 2], "sizes of groups")


if __name__ == "__main__":
    main(__name__)
