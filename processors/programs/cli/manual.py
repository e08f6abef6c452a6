"""Manual pages and completion for bash, zsh and fish, made of what the program itself says: the list of
its commands, the --help of each, and its settings. So they cannot differ from it.

    manual.py PROGRAM OUTPUT_DIR

writes man1/*.1, bash/samepage, zsh/_samepage and fish/samepage.fish.
"""

import collections
import os
import re
import subprocess
import sys

Option = collections.namedtuple("Option", "short long argument text")
Command = collections.namedtuple("Command", "name summary sections options words")


def said(program, *arguments):
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout


def sections_of(text):
    """[(heading, [line])] of a help text: headings are in capitals and not indented."""
    sections = []
    for line in text.splitlines():
        if re.match(r"[A-Z]", line):
            sections.append((line, []))
        else:
            sections[-1][1].append(line)
    return [(heading, "\n".join(lines).strip("\n").split("\n")) for heading, lines in sections]


# "-o, --output FILE   what it does", or several options with commas between them.
ONE = r"(?:(-\w), )?(--[a-z-]+)(?: (\[?[A-Z][A-Z0-9|=_:.]*\]?)|\[=?([A-Z]+)\])?"
ITEM = re.compile(rf"^  {ONE}((?:, {ONE})*),?(?: +(\S.*))?$")


def options_of(lines):
    """Of the section OPTIONS; fails on a line that it does not understand."""
    found, group, text = [], [], []

    def end():
        for short, name, argument in group:
            found.append(Option(short, name, argument, " ".join(text)))
        group.clear()
        text.clear()

    for line in lines:
        item = ITEM.match(line)
        if item:
            if text:
                end()
            names = line[:item.start(item.lastindex)] if item.groups()[-1] else line
            group += [(short, name, argument or optional) for short, name, argument, optional in re.findall(ONE, names)]
            text += [item.groups()[-1]] if item.groups()[-1] else []
        elif re.match(r" {8,}\S", line):
            text.append(line.strip())
        elif line.strip():
            raise SystemExit(f"an option that is not understood: {line!r}")
    end()
    return found


def commands_of(program):
    commands = []
    for line in said(program, "--help").splitlines():
        item = re.match(r"  ([a-z]+) +(\S.*)", line)
        if not item:
            continue
        sections = sections_of(said(program, item.group(1), "--help"))
        options = options_of(dict(sections)["OPTIONS"])
        synopsis = " ".join(dict(sections)["SYNOPSIS"])
        words = re.search(rf"samepage {item.group(1)} ([a-z]+(?:\|[a-z]+)+)", synopsis)
        commands.append(Command(item.group(1), item.group(2), sections, options,
                                words.group(1).split("|") if words else []))
    return commands


# ---- manual pages ----

def roff(line):
    line = line.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return "\\&" + line if line.startswith(".") else line


def put_options(out, options):
    for option in options:
        names = f"\\fB{roff(option.short)}\\fR, " if option.short else ""
        argument = f" \\fI{roff(option.argument)}\\fR" if option.argument else ""
        out += [".TP", f"{names}\\fB{roff(option.long)}\\fR{argument}", roff(option.text)]


def put_text(out, lines):
    """As it is: lines and columns of these texts mean something."""
    out += [".nf"] + [roff(line[2:] if line.startswith("  ") else line) if line.strip() else ".sp" for line in lines] + [".fi"]


def page(version, name, sections, options, also):
    out = [f'.TH {name.upper().replace("-", chr(92) + "-")} 1 "" "samepage {version}" "samepage"', ".nh", ".ad l"]
    for heading, lines in sections:
        out.append(f'.SH "{roff(heading)}"')
        if heading == "NAME":
            command, does = lines[0].strip().split(" - ", 1)
            out.append(f"{roff(command.replace(' ', '-'))} \\- {roff(does)}")  # what `apropos` reads
        elif heading == "OPTIONS" and options:
            put_options(out, options)
        else:
            put_text(out, lines)
    out += ['.SH "SEE ALSO"', ", ".join(f"\\fB{roff(a)}\\fR(1)" for a in also)]
    return "\n".join(out) + "\n"


def manual_pages(program, version, commands):
    every = [f"samepage-{c.name}" for c in commands]
    usage = said(program, "--help").splitlines()
    sections = [("NAME", ["samepage - " + usage[0].removeprefix("samepage ").rstrip(".")]),
                ("SYNOPSIS", ["  " + usage[2].removeprefix("usage: ")]), ("COMMANDS", usage[4:])]
    yield "samepage.1", page(version, "samepage", sections, [], every + ["samepage-settings"])
    for command in commands:
        also = ["samepage"] + (["samepage-settings"] if any(o.long == "--set" for o in command.options) else [])
        yield f"samepage-{command.name}.1", page(version, f"samepage-{command.name}", command.sections, command.options, also)
    settings = said(program, "run", "--help-settings").splitlines()[1:]
    yield "samepage-settings.1", page(version, "samepage-settings", [
        ("NAME", ["samepage settings - all settings of samepage, with their defaults"]),
        ("SETTINGS", ["  Given by --set key=value, or as lines in the file of --config.", ""] + settings)], [], ["samepage"])


# ---- completion ----

def settings_of(program):
    return re.findall(r"^([a-z0-9_.]+) =", said(program, "config"), re.M)


def bash(commands, settings):
    cases, taking = [], []
    for c in commands:
        names = [n for o in c.options for n in (o.short, o.long) if n]
        cases.append(f"    {c.name}) words=\"{' '.join(c.words)}\" options=\"{' '.join(names)}\" ;;")
        taking += [f"{c.name},{n}" for o in c.options if o.argument for n in (o.short, o.long) if n]
    return f"""# bash completion for samepage; made of its own help, do not edit
_samepage() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD - 1]}} command=${{COMP_WORDS[1]-}} options= words=
  local commands="{' '.join(c.name for c in commands)}"
  if [ "$COMP_CWORD" = 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "$commands help --help --version" -- "$cur")
    return
  fi
  case $command in
    help) words=$commands ;;
{chr(10).join(cases)}
  esac
  if [ "$prev" = --set ]; then
    compopt -o nospace 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -S = -W "{' '.join(settings)}" -- "$cur")
    return
  fi
  case $command,$prev in # options that want a file, or a value of which no more is known
    {"|".join(taking)}) words= options= ;;
  esac
  if [[ $cur = -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
  elif [ -n "$words" ]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
  else
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  fi
}}
complete -F _samepage samepage
"""


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def short_text(text):
    """The first part of a description: what fits beside an option."""
    return re.split(r"[;:.] |[;:.]$", text)[0]


def zsh(commands, settings):
    out = ["#compdef samepage", "# made of samepage's own help, do not edit", "", "_samepage_settings() {",
           f"  compadd -S = -- {' '.join(settings)}", "}", "", "_samepage() {", "  local -a commands", "  commands=("]
    out += ["    " + quoted(f"{c.name}:{short_text(c.summary)}") for c in commands]
    out += ["    'help:explains a command'", "  )", "  if (( CURRENT == 2 )); then",
            "    _describe command commands", "    _arguments '--help[the commands]' '--version[the version]'", "    return", "  fi",
            "  local command=$words[2]", "  shift words", "  (( CURRENT-- ))", "  case $command in",
            "    help) _describe command commands ;;"]
    for c in commands:
        out.append(f"    {c.name}) _arguments -s \\")
        for o in c.options:
            text = re.sub(r"([\[\]:\\])", r"\\\1", short_text(o.text))
            value = ""
            if o.long == "--set":
                value = ":setting:_samepage_settings"
            elif o.argument:
                value = f":{o.argument.strip('[]').replace(':', '')}:_files"
            repeat = "*" if o.long == "--set" else ""
            for name in filter(None, (o.short, o.long)):
                out.append(f"      {quoted(f'{repeat}{name}[{text}]{value}')} \\")
        out.append(f"      {quoted('1:what:(' + ' '.join(c.words) + ')') if c.words else quoted('*:file:_files')} ;;")
    out += ["  esac", "}", "", '_samepage "$@"']
    return "\n".join(out) + "\n"


def fish(commands, settings):
    def fish_quoted(text):
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    out = ["# made of samepage's own help, do not edit",
           "complete -c samepage -n __fish_use_subcommand -f -l help -d 'the commands'",
           "complete -c samepage -n __fish_use_subcommand -f -l version -d 'the version'",
           "complete -c samepage -n __fish_use_subcommand -f -a help -d 'explains a command'",
           f"complete -c samepage -n '__fish_seen_subcommand_from help' -f -a {fish_quoted(' '.join(c.name for c in commands))}"]
    for c in commands:
        out.append(f"complete -c samepage -n __fish_use_subcommand -f -a {c.name} -d {fish_quoted(short_text(c.summary))}")
        seen = f"complete -c samepage -n '__fish_seen_subcommand_from {c.name}'"
        if c.words:
            out.append(f"{seen} -f -a {fish_quoted(' '.join(c.words))}")
        for o in c.options:
            short = f" -s {o.short[1:]}" if o.short else ""
            value = ""
            if o.long == "--set":
                value = f" -x -a {fish_quoted(' '.join(s + '=' for s in settings))}"
            elif o.argument:
                value = " -r -F"
            out.append(f"{seen}{short} -l {o.long[2:]}{value} -d {fish_quoted(short_text(o.text))}")
    return "\n".join(out) + "\n"


def write(directory, name, text):
    path = os.path.join(directory, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def main(program, directory):
    commands, settings = commands_of(program), settings_of(program)
    version = said(program, "--version").split()[1]
    for name, text in manual_pages(program, version, commands):
        write(directory, os.path.join("man1", name), text)
    write(directory, "bash/samepage", bash(commands, settings))
    write(directory, "zsh/_samepage", zsh(commands, settings))
    write(directory, "fish/samepage.fish", fish(commands, settings))


if __name__ == "__main__":
    main(*sys.argv[1:])
