#!/usr/bin/env python3
"""Writes docs/OPTIONS.md and docs/REPORTS.md from the help of the programs, and checks that they match it, that
links between Markdown files are not broken, that the messages in docs/TROUBLESHOOTING.md are messages of the
sources, and that figures which can be counted are right.

usage: scripts/docs.py write [OPTION …]     writes docs/OPTIONS.md, docs/REPORTS.md and the figures
       scripts/docs.py check [OPTION …]     checks them, all links and all headings of messages
       scripts/docs.py time cold|warm TIER SECONDS   writes the time of a tier of scripts/test.sh into CONTRIBUTING.md

options: --build=FOLDER    the build folder of the programs (build)
         --java=FILE       the JVM that loads the agent to print its help (java)

exit codes: 0 no errors · 1 errors, one line each · 2 wrong usage, or a program is missing
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True  # no files in the source folder

from docs.figures import FEATURES, TIERS, with_features, with_time, wrong_figures
from docs.help import (COMMAND, JTRACE_OPTION, POST_OPTION, REPORT, agent_options, codes, exit_codes, helps, metrics,
                       paragraphs, rows_of, values, with_default)
from docs.links import broken_links
from docs.messages import unknown_messages
from docs.option_table import TABLE, options
from docs.programs import Missing, run

OPTIONS = "docs/OPTIONS.md"
REPORTS = "docs/REPORTS.md"
FORMATS = "docs/FORMATS.md"

NAME_FILES = ("costs", "config")  # options whose examples name files

GENERATED = "<!-- Made by scripts/docs.py from the programs' help. Do not edit: scripts/docs.py write -->\n"


class Wrong(Exception):
    """The tables of this script do not match the programs."""


# --- Markdown

def code(words):
    return f"`{words.replace('|', chr(92) + '|')}`" if words else ""


def text(words):
    """Text between backquotes is code."""
    parts = words.split("`")
    return "".join(code(part) if i % 2 else re.sub(r"([\\*<>\[\]|])", r"\\\1", part) for i, part in enumerate(parts))


def table(head, rows):
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    lines += ["|" + "|".join(f" {cell} " if cell else " " for cell in row) + "|" for row in rows]
    return "\n".join(lines) + "\n"


# --- help of jtrace-post and jtrace

def option_table(rows):
    shown = []
    for name, description, example in rows:
        description, default = with_default(description or "print that")
        shown.append([code(name), text(description), text(default), code(example)])
    return table(["option", "meaning", "default", "example"], shown)


def exit_code_table(help_text):
    return table(["exit code", "when"], [[number, text(what)] for number, what in exit_codes(help_text)])


# --- the agent's help

def agent_option_table(source, help_text):
    table_entries = options(source)
    rows = []
    for option, meaning in agent_options(help_text):
        name = option.split("=")[0]
        if name not in table_entries:
            raise Wrong(f"option {name} of the agent's help is missing in {TABLE}: build the agent again")
        initial, example = table_entries[name]
        rows.append([code(option), text(meaning), initial, code(example)])
    return table(["option", "meaning", "default", "example"], rows)


def value_table(help_text, option):
    rows = [[code(value), text(what)] for value, what in values(help_text, option)]
    return table([code(f"{option}="), "meaning"], rows)


def metric_table(help_text):
    return table(["metric", "known of", "what it counts, unit", "exactness; cost"],
                 [[code(row[0])] + [text(cell) for cell in row[1:]] for row in metrics(help_text)])


def code_table(help_text):
    return table(["code", "name", "default", "meaning"],
                 [[code(number), code(name), state, text(what)] for number, name, state, what in codes(help_text)])


# --- the two files

def command_table(rows):
    return table(["command", "meaning", "example"],
                 [[code(name), text(what), code(example)] for name, what, example in rows])


def options_page(source, agent, post, jtrace):
    post_parts, jtrace_parts = paragraphs(post), paragraphs(jtrace)
    return "\n".join([
        "# Options",
        GENERATED,
        "The options of the [agent](#the-agent), of [`jtrace-post`](#jtrace-post) and of the [`jtrace`](#jtrace) "
        "command,\nfrom their help. Reports: [REPORTS.md](REPORTS.md). Messages: "
        "[TROUBLESHOOTING.md](TROUBLESHOOTING.md).\n",
        "## The agent",
        "`java -agentpath:build/lib/libjtrace.so=OPTION=VALUE,OPTION=VALUE …`, or `jtrace start JVM OPTION=VALUE "
        "…`.\nThe first word may be `serve`: record nothing until `jtrace start`. Several patterns, names or codes "
        "are\nseparated by `;`.\n",
        agent_option_table(source, agent),
        "### Values of stack=", value_table(agent, "stack"),
        "### Values of timer=", value_table(agent, "timer"),
        "### Names for metrics=", metric_table(agent),
        "### Codes and names for codes=", code_table(agent),
        "## jtrace-post",
        "`jtrace-post [--report=R[,R…]] [--format=text|csv|json] [-o FILE] [options] TRACE…`\n",
        option_table(rows_of(post_parts["options"], POST_OPTION)),
        exit_code_table(post),
        "## jtrace",
        "`jtrace COMMAND [JVM] [OPTION …]`. JVM is a pid, or a part of the main class or jar that only one JVM "
        "has.\n",
        command_table(rows_of(jtrace_parts["commands"], COMMAND)),
        option_table(rows_of(jtrace_parts["options"], JTRACE_OPTION)),
        exit_code_table(jtrace),
    ]).rstrip("\n") + "\n"


def reports_page(post):
    rows = rows_of(paragraphs(post)["reports"], REPORT)
    return "\n".join([
        "# Reports",
        GENERATED,
        "`jtrace-post --report=NAME TRACE` makes a report; `--report=tree,flat` makes two. Without `--report=` the "
        "overview\nis made of `summary`, `tree`, `flat` and `arcflow`. Options: [OPTIONS.md](OPTIONS.md). How to "
        "read them:\n[USER-GUIDE.md](USER-GUIDE.md). Columns: [postproc/README.md](../postproc/README.md).\n",
        table(["report", "what it shows", "example"],
              [[code(name), text(what), code(example)] for name, what, example in rows]),
    ]).rstrip("\n") + "\n"


def pages(source, build, java):
    """Path → text."""
    agent, post, jtrace = helps(build, java)
    return {OPTIONS: options_page(source, agent, post, jtrace), REPORTS: reports_page(post)}


def refused_examples(source, build, java):
    for name, (_, example) in options(source).items():
        if name in NAME_FILES:
            continue
        done = run([java, f"-agentpath:{build / 'lib/libjtrace.so'}={example},help", "-version"])
        if done.returncode != 0:
            yield f"{TABLE}: the agent refuses the example {example}: {done.stderr.strip()}"


# --- commands

def write(source, build, java):
    for name, page in pages(source, build, java).items():
        (source / name).write_text(page)
    page = (source / FEATURES).read_text()
    (source / FEATURES).write_text(with_features(page))
    return 0


def check(source, build, java):
    wrong = []
    for name, page in pages(source, build, java).items():
        file = source / name
        if not file.is_file() or file.read_text() != page:
            wrong.append(f"{name} is out of date; run scripts/docs.py write")
    if exit_code_table(helps(build, java)[1]) not in (source / FORMATS).read_text():
        wrong.append(f"{FORMATS}: the table of exit codes is not that of jtrace-post's help, which {OPTIONS} has")
    wrong += refused_examples(source, build, java)
    wrong += broken_links(source)
    wrong += unknown_messages(source)
    wrong += wrong_figures(source)
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


def main():
    source = pathlib.Path(__file__).resolve().parents[1]
    build, java = source / "build", "java"
    commands = {"write": write, "check": check}
    if len(sys.argv) == 5 and sys.argv[1] == "time" and sys.argv[2] in ("cold", "warm"):
        page = (source / TIERS).read_text()
        (source / TIERS).write_text(with_time(page, sys.argv[3], sys.argv[2], sys.argv[4]))
        return 0
    for word in sys.argv[2:]:
        name, equals, value = word.partition("=")
        if name == "--build" and value:
            build = pathlib.Path(value).resolve()
        elif name == "--java" and value:
            java = value
        else:
            print(f"docs.py: unknown option {word}\n\n{__doc__.strip()}", file=sys.stderr)
            return 2
    if sys.argv[1:2] == [] or sys.argv[1] not in commands:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        return commands[sys.argv[1]](source, build, java)
    except Wrong as wrong:
        print(f"docs.py: {wrong}", file=sys.stderr)
        return 1
    except Missing as missing:
        print(f"docs.py: {missing}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
