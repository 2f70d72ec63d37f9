#!/usr/bin/env python3
"""Checks that each row of docs/FEATURES.md that works names a test, and has a fault that one of its tests catches.

Usage: native-tests/faults/rows.py [--list]
  --list  prints each row's faults and the tests that catch them
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FAULTS = Path(__file__).resolve().parent
FEATURES = ROOT / "docs/FEATURES.md"
TEST_FILE = re.compile(r"(_test\.cc|Test\.java|\.test\.mjs|_test\.sh)$|^java-tests/(walker|probes)/")


def features():
    """{row: (state, files that its last column links)}"""
    text = FEATURES.read_text()
    targets = dict(re.findall(r"^\[([^\]]+)\]: (\S+)$", text, re.M))
    rows = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) != 6 or not re.fullmatch(r"S[1-5]\.\d+", cells[1]):
            continue
        links = [targets.get(name, "") for name in re.findall(r"\[([^\]]+)\]", cells[4])]
        files = [(FEATURES.parent / link.split("#")[0]).resolve() for link in links if link]
        rows[cells[1]] = (cells[3], [file for file in files if file.is_file()])
    return rows


def head(patch):
    """{field: value} of what stands before a patch's diff."""
    return dict(re.findall(r"^([A-Z][a-z-]+): *(.*)$", patch.read_text().split("\ndiff --git ")[0], re.M))


def tests_of(caught_by):
    """The suites, classes or programs of an expression for ctest."""
    for one in re.sub(r"[\^$]", "", caught_by).replace("\\.", ".").split("|"):
        parts = one.rstrip(".").split(".")
        yield parts[1] if parts[0].startswith("junit-jdk-") else parts[0].split("/")[-1]


def is_test_of(file, name):
    """Whether a suite, class or program of this name is in the file."""
    if name in ("Walker", "Probes"):
        return file.relative_to(ROOT).as_posix().startswith(f"java-tests/{name.lower()}/")
    return file.stem == name or re.search(rf"\bTEST(_F|_P)?\({name},", file.read_text()) is not None


def problems(rows, faults):
    for name, fault in faults.items():
        for row in fault.get("Row", "").split():
            if row not in rows:
                yield f"{name}: docs/FEATURES.md has no row {row}"
    for row, (state, files) in rows.items():
        if state != "works":
            continue
        tests = [file for file in files if TEST_FILE.search(file.relative_to(ROOT).as_posix())]
        if not tests:
            yield f"docs/FEATURES.md: {row} names no test in its last column"
        of_row = [fault for fault in faults.values() if row in fault.get("Row", "").split()]
        if not of_row:
            yield f"{row} has no fault: plant one, with the line 'Row: {row}'"
        elif tests and not any(
            is_test_of(file, name)
            for fault in of_row
            for name in tests_of(fault.get("Caught-by", ""))
            for file in tests
        ):
            yield f"{row}: no test that docs/FEATURES.md names for it catches a fault of it"


def main():
    rows = features()
    faults = {patch.stem: head(patch) for patch in sorted(FAULTS.glob("*.patch"))}
    if sys.argv[1:] == ["--list"]:
        for row in rows:
            for name, fault in faults.items():
                if row in fault.get("Row", "").split():
                    print(row, name, fault.get("Caught-by", ""), fault.get("Case", ""))
        return 0
    found = list(problems(rows, faults))
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
