#!/usr/bin/env python3
"""Fails if a library of signal handlers refers to a symbol that is not on the allow-list.

So an allocation, a lock, an exception, lazily allocated thread-local storage (__tls_get_addr) or a
logging call is found at build time, instead of as a rare deadlock in a handler.
"""
import argparse
import fnmatch
import subprocess
import sys


def symbols(nm, option, library):
    """The names that `nm option library` lists, demangled and without version."""
    output = subprocess.run([nm, "-C", option, library], check=True, capture_output=True, text=True)
    for line in output.stdout.splitlines():
        fields = line.strip().split(maxsplit=2 if option != "-u" else 1)
        if len(fields) >= 2 and not line.endswith(":"):
            yield fields[-1].split("@")[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--allowed", required=True)
    parser.add_argument("library", nargs="+")
    arguments = parser.parse_args()

    with open(arguments.allowed, encoding="utf-8") as lines:
        allowed = {line.split("#")[0].strip() for line in lines} - {""}
    defined, used = set(), set()
    for library in arguments.library:
        defined.update(symbols(arguments.nm, "--defined-only", library))
        used.update(symbols(arguments.nm, "-u", library))
    forbidden = sorted(name for name in used - defined
                       if not any(fnmatch.fnmatchcase(name, pattern) for pattern in allowed))
    for name in forbidden:
        print(f"code of signal handlers must not use: {name}", file=sys.stderr)
    return 1 if forbidden else 0


if __name__ == "__main__":
    sys.exit(main())
