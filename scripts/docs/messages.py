"""Checks that the headings of docs/TROUBLESHOOTING.md are messages of the sources."""
import re

MESSAGES = "docs/TROUBLESHOOTING.md"
SOURCE_FOLDERS = ("agent", "postproc", "common", "proto")
SOURCE_ENDINGS = (".cc", ".h", ".py")
OPTION = re.compile(r"^option '[a-z]+': ")  # an error of the option table: the table adds this before the message
LEAST_PART = 12  # characters; shorter parts occur everywhere, and are searched only if there is no longer one

TOKEN = re.compile(
    r'(?P<skip>//[^\n]*|/\*.*?\*/|[\s,]+)'
    r'|R"\((?P<raw>.*?)\)"'
    r'|"(?P<literal>(?:[^"\\\n]|\\.)*)"'
    r"|'(?:[^'\\\n]|\\.){1,4}'"
    r"|[^\"'/\s,R]+|.", re.S)
ESCAPES = {"n": "\n", "t": "\t"}


def literals(source_text):
    """Texts of string literals; literals with only blanks, commas and comments between them are joined."""
    joined, is_open = [], False
    for token in TOKEN.finditer(source_text):
        literal = token["raw"]
        if literal is None and token["literal"] is not None:
            literal = re.sub(r"\\(.)", lambda escape: ESCAPES.get(escape[1], escape[1]), token["literal"])
        if literal is not None:
            if is_open:
                joined[-1] += literal
            else:
                joined.append(literal)
            is_open = True
        elif token["skip"] is None:
            is_open = False
    return joined


def all_literals(source):
    found = []
    for folder in SOURCE_FOLDERS:
        for file in sorted((source / folder).rglob("*")):
            if file.suffix in SOURCE_ENDINGS:
                found += literals(file.read_text())
    return "\0".join(" ".join(literal.split()) if literal.strip() else "" for literal in found)


def unknown_messages(source):
    known = all_literals(source)
    for number, line in enumerate((source / MESSAGES).read_text().splitlines(), 1):
        heading = re.match(r"### `(.*)`$", line)
        if heading is None:
            if line.startswith("### "):
                yield f"{MESSAGES}:{number}: a heading must be a message in backquotes"
            continue
        parts = [" ".join(part.split()) for part in OPTION.sub("", heading[1]).split("…")]
        for part in [part for part in parts if len(part) >= LEAST_PART] or [max(parts, key=len)]:
            if part not in known:
                yield f"{MESSAGES}:{number}: no source has '{part}'"
