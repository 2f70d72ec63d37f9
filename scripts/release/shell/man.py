"""The manual pages jtrace(1) and jtrace-post(1), in roff with the macros of man(7)."""
import re
import time

from docs.help import codes, exit_codes, metrics, values


def text(words):
    """Text in which roff obeys nothing. Every hyphen is a minus sign, so that options can be copied."""
    words = words.replace("\\", "\\e").replace("-", "\\-").replace("^", "\\(ha").replace("~", "\\(ti")
    words = words.replace("'", "\\(aq").replace("`", "\\(ga")
    return "\\&" + words if words.startswith(".") else words


def bold(words):
    return f"\\fB{text(words)}\\fR"


def form(usage):
    """A usage: names bold, and what stands for something else in italics."""
    parts = re.split(r"([A-Z]{2,}|\b[NRM]\b)", usage)
    return "".join(f"\\fI{part}\\fR" if i % 2 else bold(part) for i, part in enumerate(parts) if part)


def item(usage, meaning, example=""):
    lines = [".TP", form(usage)]
    lines += [text(meaning)] if meaning else []
    if example:
        # A description that is empty would take the example for itself.
        lines += [".br"] if meaning else []
        lines += [f"e.g. {bold(example)}"]
    return lines if meaning or example else lines + ["\\&"]


def section(name, *blocks):
    return [f".SH {name}"] + [line for block in blocks for line in block]


def subsection(name, rows):
    return [f'.SS "{text(name)}"'] + [line for row in rows for line in item(*row)]


def paragraphs_of(*texts):
    return [line for words in texts for line in (".PP", text(words))]


def sentences(help_text, first):
    """The paragraph that begins so, as one line."""
    return " ".join(help_text[help_text.index(first):].split("\n\n")[0].split())


def usage_lines(help_text):
    """The lines of `usage: …`."""
    found = re.search(r"^usage: (.*(?:\n {7}\S.*)*)", help_text, re.M)
    return [line.strip() for line in found[1].splitlines()]


def head(name, help_text, when):
    first, what = help_text.splitlines()[0].split(": ", 1)
    synopsis = []
    for line in usage_lines(help_text):
        line, _, meaning = line.partition("     ")
        synopsis += [form(line.strip()), ".br"]
    date = text(time.strftime("%Y-%m-%d", when))
    return [
        '.\\" Made by scripts/release/shell.py from the help.',
        f'.TH {text(name).upper()} 1 {date} jtrace "User Commands"',
        *section("NAME", [f"{text(first)} \\- {text(what)}"]),
        *section("SYNOPSIS", [".nh", ".ad l", *synopsis[:-1]]),
    ]


def exits(help_text, more=""):
    rows = [line for number, what in exit_codes(help_text) for line in item(number, what)]
    return section('"EXIT STATUS"', rows, paragraphs_of(more) if more else [])


def options_section(options):
    return section("OPTIONS", *[item(option.usage, option.meaning or "print that", option.example)
                                for option in options])


def agent_section(agent_help, tables):
    blocks = [item(option.usage, option.meaning) for option in tables.agent]
    blocks += [subsection(f"Values of {option}=", values(agent_help, option)) for option in ("stack", "timer")]
    blocks.append(subsection("Names for metrics=", [
        (name, f"{what}. Known of: {where}." + (f" {cost}." if cost else ""))
        for name, where, what, cost in metrics(agent_help)]))
    blocks.append(subsection("Names for codes=", [
        (name, f"{number}, {state} by default: {what}") for number, name, state, what in codes(agent_help)]))
    return section('"OPTIONS OF THE AGENT"', *blocks)


def examples(rows):
    return section("EXAMPLES", [".nf", *[bold(example) for example in rows], ".fi"])


def jtrace_page(jtrace_help, agent_help, tables, when):
    return [
        *head("jtrace", jtrace_help, when),
        *section("DESCRIPTION", paragraphs_of(sentences(jtrace_help, "JVM is "),
                                              sentences(jtrace_help, "Options of the agent"))),
        *section("COMMANDS", *[item(f"{command.name} {command.usage}".strip(), command.meaning)
                               for command in tables.commands]),
        *options_section(tables.jtrace),
        *agent_section(agent_help, tables),
        *exits(jtrace_help),
        *examples([command.example for command in tables.commands]),
        *section('"SEE ALSO"', ["\\fBjtrace\\-post\\fR(1)"]),
    ]


def post_page(post_help, tables, when):
    return [
        *head("jtrace-post", post_help, when),
        *section("DESCRIPTION", paragraphs_of(sentences(post_help, "With no option"))),
        *options_section(tables.post),
        *section("REPORTS", *[item(name, meaning) for name, meaning, _ in tables.reports]),
        *exits(post_help),
        *examples([example for _, _, example in tables.reports]),
        *section('"SEE ALSO"', ["\\fBjtrace\\fR(1)"]),
    ]


def pages(texts, tables, when):
    """Name → page."""
    agent_help, post_help, jtrace_help = texts
    found = {"jtrace": jtrace_page(jtrace_help, agent_help, tables, when),
             "jtrace-post": post_page(post_help, tables, when)}
    return {name: "\n".join(lines) + "\n" for name, lines in found.items()}
