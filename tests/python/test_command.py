"""python -m samepage: Parquet to the command and back."""

import datetime
import json
import os
import stat
import subprocess
import sys
import tempfile
import unittest

import pyarrow
import pyarrow.parquet

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import texts  # noqa: E402

PROGRAM = os.environ["SAMEPAGE"]


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.given = texts.families(90, seed=8)
        rows = [{"key": f"http://k.example/{n}", "body": text, "when": datetime.datetime(2024, 1, 1, 0, 0, n % 60),
                 "raw": bytes([n])} for n, text in enumerate(self.given)]
        self.rows = rows
        for name, part in (("a.parquet", rows[:40]), ("b.parquet", rows[40:])):
            pyarrow.parquet.write_table(pyarrow.Table.from_pylist(part), self.path(name))

    def path(self, name):
        return os.path.join(self.folder, name)

    def call(self, *arguments, code=0):
        done = subprocess.run([sys.executable, "-I", "-m", "samepage", *arguments], cwd=self.folder, text=True,
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def bytes_of(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def test_to_the_command_and_back(self):
        self.call("to-jsonl", "a.parquet", "b.parquet", "--text-field", "body", "--id-field", "key", "-o", "in.jsonl")
        pages = self.read("in.jsonl")
        self.assertEqual([page["url"] for page in pages], [row["key"] for row in self.rows])
        subprocess.run([PROGRAM, "run", "-q", "-o", "out.jsonl", "in.jsonl"], cwd=self.folder, check=True)
        latest = {event["url"]: event for event in self.read("out.jsonl")}
        self.assertEqual(len(latest), 90)
        with open(self.path("kept.jsonl"), "w", encoding="utf-8") as file:
            kept = [page for page in pages if latest[page["url"]]["status"] != "loser"]
            file.writelines(json.dumps({"url": page["url"]}) + "\n" for page in kept)
        self.assertLess(len(kept), 80)
        self.call("to-parquet", "kept.jsonl", "--rows-of", "a.parquet", "b.parquet", "--id-field", "key",
                  "-o", "kept.parquet")
        names = {page["url"] for page in kept}
        self.assertEqual(pyarrow.parquet.read_table(self.path("kept.parquet")).to_pylist(),
                         [row for row in self.rows if row["key"] in names])

    def test_ids_that_are_no_urls_to_the_command_and_back(self):
        ids = list(range(89)) + ["a b%#é"]
        rows = [{"id": str(key), "text": text} for key, text in zip(ids, self.given)]
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), self.path("ids.parquet"))
        self.call("to-jsonl", "ids.parquet", "--id-field", "id", "-o", "ids.jsonl")
        self.assertEqual([page["url"] for page in self.read("ids.jsonl")],
                         [f"doc:{key}" for key in ids[:89]] + ["doc:a%20b%25%23é"])
        subprocess.run([PROGRAM, "run", "-q", "-o", "ids.out", "ids.jsonl"], cwd=self.folder, check=True)
        latest = {event["url"]: event for event in self.read("ids.out")}
        self.assertEqual(len(latest), 90)
        with open(self.path("ids.kept"), "w", encoding="utf-8") as file:
            file.writelines(json.dumps({"url": url}) + "\n" for url, event in latest.items() if event["status"] != "loser")
        self.call("to-parquet", "ids.kept", "--rows-of", "ids.parquet", "--id-field", "id", "-o", "ids.kept.parquet")
        found = pyarrow.parquet.read_table(self.path("ids.kept.parquet")).to_pylist()
        self.assertEqual(len(found), sum(event["status"] != "loser" for event in latest.values()))

    def test_rows_without_an_id_are_not_one_page(self):
        for ids in (["a", "b", None], [1.5, float("nan"), 2.5]):
            rows = [{"id": key, "text": text} for key, text in zip(ids, self.given)]
            pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), self.path("ids.parquet"))
            place = next(n for n, key in enumerate(ids) if key is None or key != key)
            self.assertIn(f"ids.parquet: row {place} (from 0) has no id in column 'id'",
                          self.call("to-jsonl", "ids.parquet", "--id-field", "id", "-o", "ids.jsonl", code=1))
            self.assertFalse(os.path.exists(self.path("ids.jsonl")))
            self.call("to-jsonl", "ids.parquet")

    def test_rows_without_a_key(self):
        lines = self.call("to-jsonl", "a.parquet", "b.parquet", "--text-field", "body", "--all").splitlines()
        pages = [json.loads(line) for line in lines]
        self.assertEqual(pages[45]["url"], "doc:45")
        self.assertEqual(pages[45]["when"], self.rows[45]["when"].isoformat())
        with open(self.path("kept.jsonl"), "w", encoding="utf-8") as file:
            file.write('{"url": "doc:3"}\n\n{"id": "doc:45"}\n')
        self.call("to-parquet", "kept.jsonl", "--rows-of", "a.parquet", "b.parquet", "-o", "kept.parquet")
        kept = pyarrow.parquet.read_table(self.path("kept.parquet"))
        self.assertEqual(kept.to_pylist(), [self.rows[3], self.rows[45]])

    def test_dedup(self):
        self.call("dedup", "a.parquet", "--text-field", "body", "--id-field", "key", "--kept", "k.parquet", "--removed",
                  "r.jsonl")
        kept = pyarrow.parquet.read_table(self.path("k.parquet")).to_pylist()
        removed = self.read("r.jsonl")
        self.assertEqual(len(kept) + len(removed), 40)
        self.assertTrue(removed)
        self.assertTrue({row["kept"] for row in removed} <= {row["key"] for row in kept})

    def test_an_output_replaces_no_input_and_no_other_output(self):
        os.link(self.path("a.parquet"), self.path("linked.parquet"))
        os.symlink("a.parquet", self.path("link.parquet"))
        for name, text in (("t.jsonl", '{"text": "one two", "id": "doc:1"}\n'), ("o.part", '{"text": "one two"}\n')):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(text)
        before = {name: self.bytes_of(name) for name in os.listdir(self.folder)}
        body = ("--text-field", "body")
        for output in ("a.parquet", "./a.parquet", "linked.parquet", "link.parquet"):
            self.assertIn("would replace the input", self.call("to-jsonl", "b.parquet", "a.parquet", *body, "-o", output,
                                                               code=1))
            self.assertIn("would replace the input", self.call("to-parquet", "t.jsonl", "--rows-of", "b.parquet",
                                                               "a.parquet", "-o", output, code=1))
            self.assertIn("--kept " + output, self.call("dedup", "a.parquet", *body, "--kept", output, code=1))
            self.assertIn("--removed " + output, self.call("dedup", "a.parquet", *body, "--kept", "k", "--removed", output,
                                                           code=1))
        self.assertIn("the input", self.call("to-parquet", "t.jsonl", "--rows-of", "a.parquet", "-o", "t.jsonl", code=1))
        self.assertIn("the input", self.call("dedup", "o.part", "--kept", "o", code=1))
        for other in ("k.parquet", "./k.parquet", os.path.join(self.folder, "k.parquet"), "k.parquet.part"):
            self.assertIn("the file of --kept", self.call("dedup", "a.parquet", *body, "--kept", "k.parquet", "--removed",
                                                          other, code=1))
        self.assertEqual({name: self.bytes_of(name) for name in os.listdir(self.folder)}, before)

    def test_an_output_that_is_no_regular_file_is_written_as_it_is(self):
        def through_pipe(*arguments):
            pipe = self.path("pipe")
            os.mkfifo(pipe)
            reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)  # what is written fits in the pipe
            self.call(*arguments)
            with open(reader, "rb") as file:
                content = file.read()
            self.assertTrue(stat.S_ISFIFO(os.stat(pipe).st_mode))
            os.unlink(pipe)
            return content

        body = ("--text-field", "body")
        self.assertEqual(through_pipe("to-jsonl", "a.parquet", *body, "-o", "pipe").decode(),
                         self.call("to-jsonl", "a.parquet", *body))
        self.call("dedup", "a.parquet", *body, "--kept", "k.parquet", "--removed", "r.jsonl")
        removed = through_pipe("dedup", "a.parquet", *body, "--kept", "k.parquet", "--removed", "pipe")
        self.assertEqual(removed, self.bytes_of("r.jsonl"))
        with open(self.path("t.jsonl"), "w", encoding="utf-8") as file:
            file.write('{"text": "one two"}\n')
        self.assertEqual(through_pipe("dedup", "t.jsonl", "--kept", "pipe"), self.bytes_of("t.jsonl"))

    def test_an_output_that_is_a_device(self):
        device = self.path("null")
        try:
            os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
            with open(device, "wb"):
                pass
        except OSError as error:
            self.skipTest(f"no device can be made: {error}")
        self.call("to-jsonl", "a.parquet", "--text-field", "body", "-o", "null")
        self.call("dedup", "a.parquet", "--text-field", "body", "--kept", "null", "--removed", "null")
        with open(self.path("kept.jsonl"), "w", encoding="utf-8") as file:
            file.write('{"url": "doc:3"}\n')
        self.call("to-parquet", "kept.jsonl", "--rows-of", "a.parquet", "-o", "null")
        self.assertTrue(stat.S_ISCHR(os.stat(device).st_mode))

    def test_an_output_that_is_a_link_remains_one(self):
        os.symlink("target.jsonl", self.path("link.jsonl"))
        self.call("to-jsonl", "a.parquet", "--text-field", "body", "-o", "link.jsonl")
        self.assertTrue(os.path.islink(self.path("link.jsonl")))
        self.assertEqual(len(self.read("target.jsonl")), 40)
        before = self.bytes_of("target.jsonl")
        self.call("to-jsonl", "a.parquet", "-o", "link.jsonl", code=1)
        self.assertEqual(self.bytes_of("target.jsonl"), before)
        self.assertFalse([name for name in os.listdir(self.folder) if name.endswith(".part")])

    def test_half_of_a_surrogate_pair(self):
        row = {"text": "caf\ud83d \u00e9"}
        with open(self.path("half.jsonl"), "w", encoding="utf-8") as file:
            file.write(json.dumps(row))
        self.call("dedup", "half.jsonl", "--kept", "kept.jsonl")
        self.assertEqual(self.read("kept.jsonl"), [row])

    def test_mistakes_are_named(self):
        self.assertIn("there are: key, body, when, raw", self.call("to-jsonl", "a.parquet", code=1))
        self.assertIn("none.parquet", self.call("to-jsonl", "none.parquet", "-o", "x", code=1))
        with open(self.path("bad.jsonl"), "w", encoding="utf-8") as file:
            file.write("7\n")
        with open(self.path("number.jsonl"), "w", encoding="utf-8") as file:
            file.write('{"text": 7}\n')
        self.assertIn("not int", self.call("dedup", "number.jsonl", "--kept", "x", code=1))
        self.assertIn("bad.jsonl:1", self.call("to-parquet", "bad.jsonl", "--rows-of", "a.parquet", "-o", "x", code=1))
        with open(self.path("latin.jsonl"), "wb") as file:
            file.write(b'{"url": "caf\xe9"}\n')
        self.assertIn("latin.jsonl:1: not UTF-8",
                      self.call("to-parquet", "latin.jsonl", "--rows-of", "a.parquet", "-o", "x", code=1))
        self.assertFalse(os.path.exists(self.path("x")))


if __name__ == "__main__":
    unittest.main()
