"""Reads the help of the programs and of the agent: docs.py makes pages of it, release/shell.py completion and
manual pages."""
import re

from .programs import Missing, printed, run

# What a row of a table in a help begins with.
POST_OPTION = r"-\S+(?: [A-Z]+)?"
JTRACE_OPTION = r"-\S*[^\s,](?:, -\S+)*(?: [A-Z]+)?"
COMMAND = r"[a-z]+(?: JVM(?: \[.*?…\]| TEXT)?| QUERY \[OPTION …\]| \[OPTION=VALUE …\](?: -- PROGRAM …)?)?"
REPORT = r"[a-z]+(?:,[a-z]+)?"


def helps(build, java):
    """The texts of the agent, jtrace-post and jtrace."""
    return (agent_help(java, build / "lib/libjtrace.so"), printed([build / "bin/jtrace-post", "--help"]),
            printed([build / "bin/jtrace", "--help"]))


def paragraphs(help_text):
    """Heading → its lines, from a help with headings at the margin and rows below them."""
    found, heading = {}, ""
    for line in help_text.splitlines():
        if line and not line.startswith(" "):
            heading = line
        elif line:
            found.setdefault(heading, []).append(line)
    return found


def rows_of(lines, name):
    """(name, description, example) of rows whose second line begins with e.g."""
    rows = []
    for line in lines:
        example = re.match(r"\s+e\.g\. (.*)", line)
        row = re.match(rf"  ({name})(?: +|$)(.*)", line)
        if example and rows:
            rows[-1][2] = example[1]
        elif row:
            rows.append([row[1], row[2], ""])
    return rows


def with_default(description):
    """(description, default)"""
    found = re.search(r" ?\(default:? ([^()]*)\)", description)
    if not found:
        return description, ""
    return description.replace(found[0], ""), found[1]


def exit_codes(help_text):
    """(code, when) of `exit codes: 0 done (…) · 1 wrong usage`."""
    words = " ".join(help_text[help_text.index("exit codes:") + len("exit codes:"):].split())
    return re.findall(r"(?:^|(?<=\s)|(?<=·))\s*(\d) (.*?)(?=\s+·\s*\d|\s+\d [a-z]|$)", words)


# --- the agent's help

def agent_help(java, agent):
    done = run([java, f"-agentpath:{agent}=help", "-version"])
    if done.returncode != 0 or "usage: java -agentpath" not in done.stderr:
        raise Missing(f"{java} -agentpath:{agent}=help prints no help")
    return done.stderr.removeprefix("jtrace: ")


def agent_options(help_text):
    """(option with its value, meaning) from the first table."""
    body = help_text.split("\n\n")[1]
    return re.findall(r"^  (\S+) +(.*)$", body, re.M)


def values(help_text, option):
    """(value, meaning) of the paragraph that explains an option."""
    body = re.search(rf"^{option}=.*(?:\n +\S.*)*", help_text, re.M)[0]
    rows = []
    for line in body.splitlines():
        line = re.sub(rf"^{option}=", " " * (len(option) + 1), line)
        if line.startswith(" " * 8) and rows:  # names that belong to the row above
            rows[-1][1] += (" " if "; events: " in rows[-1][1] else "; events: ") + line.strip()
            continue
        value, _, meaning = line.strip().partition("  ")
        if not meaning:  # the line had no room for two blanks
            value, _, meaning = line.strip().partition(", ")
        rows.append([value, meaning.strip()])
    return rows


def metrics(help_text):
    """(name, known of, what it counts, exactness and cost)"""
    body = help_text[help_text.index("metrics, where they are known"):].split("\n\n")[0]
    return re.findall(r"^  (\S+) +(path|thread|process) +(.*)(?:\n {28}(.*))?$", body, re.M)


def codes(help_text):
    """(number, name, on or off, meaning)"""
    body = help_text[help_text.index("codes, and whether they are on"):]
    return re.findall(r"^  (0x\w\w/0x\w+) +(\S+) +(on|off) +(.*)$", body, re.M)
