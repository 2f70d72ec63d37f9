#!/usr/bin/env python3
"""Runs a ProbeCases program under the probe agent and compares what both counted.

    check_case.py [--jitted=most|some|none|any] [--dropped=some|none] COMMAND...

The program's stdout says what is expected (ProbeCases.java), the agent's stderr what was recorded:
`path P CALLS JITTED` and a line of totals. --jitted: how many of the calls must have run compiled (most: all but ten). --dropped: whether
a log must have left out calls, or none.
"""
import re
import subprocess
import sys


def totals(text):
    found = re.search(r"^total (calls=.*)$", text, re.M)
    if not found:
        sys.exit(f"the agent reported nothing:\n{text}")
    return {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", found.group(1))}


def compare(expected, recorded, total, errors):
    for words in expected:
        if words[0] == "path":
            calls = recorded.get(words[1], (0, 0))[0]
            if calls != int(words[2]):
                errors.append(f"{words[1]}: expected {words[2]}, recorded {calls}")
        elif words[0] == "about":
            suffix = "/" + words[1]
            calls = sum(c for p, (c, _) in recorded.items() if p.endswith(suffix))
            if abs(calls - int(words[2])) > int(words[3]):
                errors.append(f"…{suffix}: expected about {words[2]}, recorded {calls}")
        elif words[0] == "total":
            if total["calls"] != int(words[1]):
                errors.append(f"total: expected {words[1]}, recorded {total}")
    if (["pruned"] in expected) != (total["pruned"] > 0):
        errors.append(f"pruned: {total}")


def check_whole(expected, recorded, errors):
    """Where every path is known, nothing else may have been recorded."""
    if all(words[0] == "path" for words in expected):
        known = {words[1] for words in expected}
        errors += [f"{path}: not expected" for path in recorded if path not in known]


def main():
    arguments = sys.argv[1:]
    rules = {}
    while arguments[0].startswith("--"):
        rule, value = arguments.pop(0).split("=")
        rules[rule] = value
    jitted_rule = rules.get("--jitted")
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    expected = [line.split() for line in done.stdout.splitlines()]
    recorded = {}
    for path, calls, jitted in re.findall(r"^path (\S+) (\d+) (\d+)$", done.stderr, re.M):
        recorded[path] = (int(calls), int(jitted))
    if not expected or not recorded:
        sys.exit(f"nothing to compare:\n{done.stdout}\n{done.stderr}")
    errors = []
    compare(expected, recorded, totals(done.stderr), errors)
    check_whole(expected, recorded, errors)
    calls = sum(c for c, _ in recorded.values())
    jitted = sum(j for _, j in recorded.values())
    if jitted_rule and not {"most": calls - 10 <= jitted <= calls, "none": jitted == 0,
                            "some": 0 < jitted < calls, "any": True}[jitted_rule]:
        errors.append(f"jitted: {jitted} of {calls}, expected {jitted_rule}")
    dropped = totals(done.stderr)["dropped"]
    if "--dropped" in rules and rules["--dropped"] != ("some" if dropped else "none"):
        errors.append(f"dropped: {dropped}, expected {rules['--dropped']}")
    if errors:
        sys.exit("\n".join(errors[:20]))
    print(f"{len(recorded)} paths, {calls} calls, {jitted} jitted: as expected")


if __name__ == "__main__":
    main()
