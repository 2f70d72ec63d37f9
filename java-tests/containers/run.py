#!/usr/bin/env python3
"""Programs under jtrace where containers lack something: the output and exit code stay as they are, and one line
reports what to change. Each module of this folder named …_cases.py has the cases of a subject.

usage: run.py [--build=FOLDER] [--java=FILE] MODULE[.CLASS[.METHOD]]…, as in: run.py limit_cases file_cases.NoTmp
       run.py --check          only whether root and namespaces are there
exit codes: 0 passed · 1 failed · 77 not verified, for lack of root or namespaces
"""
import argparse
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import container  # noqa: E402  (its folder is known only now)

SKIPPED = 77
WITHOUT_ROOT = "system_call_cases"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(container.SOURCE / "build"))
    parser.add_argument("--java", default="java")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("cases", nargs="*", metavar="MODULE[.CLASS[.METHOD]]")
    arguments = parser.parse_args()
    container.SETTINGS.update(build=arguments.build, java=arguments.java)
    missing = container.namespaces_missing()
    if missing and not (arguments.cases and all(case.startswith(WITHOUT_ROOT) for case in arguments.cases)):
        print(f"not verified: containers need {missing}")
        sys.exit(SKIPPED)
    if arguments.check:
        return
    suite = unittest.defaultTestLoader.loadTestsFromNames(arguments.cases)
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    sys.exit(0 if result.wasSuccessful() else 1)


main()
