#!/usr/bin/env python3
"""Fails on words that CONTRIBUTING.md's table "Words" replaces, in any text, comment or name.

Usage: scripts/words.py [FILE…]     without files: all that git tracks or would add

A word of the table matches by itself and as a part of a name: `tell` matches "tell", "TellAll" and
"tell_all", not "intelligent". Exit codes: 0 none found · 1 some found, one line each.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GLOSSARY = ROOT / "CONTRIBUTING.md"
# Data, generated files, other people's texts and programs of their interfaces. The self-test plants words.
SKIPPED = re.compile(
    r"(^|/)(corpus|golden|dist|gradle)/|package-lock\.json$|^LICENSE$|^native-tests/words_test\.sh$|^scripts/words\.py$|^scripts/bench/wide_programs\.py$"
    r"|\.(png|svg|jpg|bin|class|gz|zst|dict)$"
)
# "There is no X" and "is no longer X" are as they should be.
IS_NO = re.compile(r"(?<!\bthere )\b(is|are|was|were) no (?!(longer|more|less|worse|better|slower|faster|larger)\b)[a-z]", re.I)


def table_rows(text: str) -> list[tuple[str, list[str]]]:
    """The table's rows: what to write, and the words that it replaces."""
    section = text.split("### Words", 1)[1].split("|---|---|\n", 1)[1]
    rows = []
    for line in section.splitlines():
        if not line.startswith("|"):
            break
        _, write, instead, _ = line.split("|")
        words = re.sub(r"\(.*?\)", "", instead).split(",")
        rows.append((write.strip(), [word.strip() for word in words]))
    return rows


def pattern_of(word: str) -> re.Pattern:
    """Matches the word in prose, in snake_case and in CamelCase."""
    if word.endswith("no …"):
        return IS_NO
    parts = [f"[{part[0].upper()}{part[0].lower()}]{re.escape(part[1:])}" for part in word.split()]
    prose = r"(?:[ _]|)".join(parts)
    capital = "".join(part.capitalize() for part in word.split())
    return re.compile(
        rf"(?<![A-Za-z]){prose}(?![a-z])|(?<=[a-z0-9]){capital}(?![a-z])|(?<![A-Za-z]){word.upper().replace(' ', '_')}(?![A-Z])"
    )


def tracked_files() -> list[str]:
    """All files that git tracks or would add; in a tree without git those outside of build folders."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    names = listed.stdout.splitlines() if listed.returncode == 0 else walked_files()
    return [name for name in names if not SKIPPED.search(name)]


def walked_files() -> list[str]:
    names = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
    return [str(name) for name in names if not re.match(r"(build|\.git/|.*node_modules/)", str(name))]


def lines_of(name: str) -> list[tuple[int, str]]:
    """The file's lines with their numbers, without the table itself; none of what is not text."""
    path = ROOT / name
    try:
        text = path.read_text(encoding="utf-8")
    except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
        return []
    lines = list(enumerate(text.splitlines(), 1))
    if path == GLOSSARY:
        first = next(number for number, line in lines if line == "### Words")
        end = next((number for number, line in lines if number > first and line.startswith("#")), len(lines) + 1)
        lines = [line for line in lines if not first <= line[0] < end]
    return lines


def main() -> int:
    rules = [
        (pattern_of(word), write)
        for write, words in table_rows(GLOSSARY.read_text(encoding="utf-8"))
        for word in words
    ]
    found = 0
    for name in sys.argv[1:] or tracked_files():
        for number, line in lines_of(name):
            for pattern, write in rules:
                match = pattern.search(line)
                if match:
                    found += 1
                    print(f"{name}:{number}: '{match.group(0)}': write {write}: {line.strip()[:120]}")
    if found:
        print(f"{found} words that CONTRIBUTING.md, \"Words\", replaces", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
