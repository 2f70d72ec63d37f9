#!/usr/bin/env python3
"""Writes completion for bash, zsh and fish and the manual pages of jtrace and jtrace-post, from the help of the
programs and of the agent.

usage: scripts/release/shell.py FOLDER [OPTION …]     writes FOLDER/share/…

options: --build=FOLDER    the build folder of the programs (build)
         --java=FILE       the JVM that loads the agent to print its help (java)

SOURCE_DATE_EPOCH: the date of the manual pages; without it, today.
exit codes: 0 done · 2 wrong usage, a program is missing, or its help has an unknown form
"""
import argparse
import os
import pathlib
import sys
import time

sys.dont_write_bytecode = True  # no files in the source folder
SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(1, str(SOURCE / "scripts"))

from docs.help import helps
from docs.programs import Missing
from shell.completion import completion
from shell.man import pages
from shell.tables import tables_of

# Below share/. zsh: the folder of Debian's packages, because site-functions below /usr is not searched there; from a
# tarball every folder has to be named in fpath anyway.
FILES = {
    "bash": "bash-completion/completions/{}",
    "zsh": "zsh/vendor-completions/_{}",
    "fish": "fish/vendor_completions.d/{}.fish",
}


def files(build, java, when):
    """Path below share/ → text."""
    texts = helps(build, java)
    tables = tables_of(*texts)
    found = {}
    for program in ("jtrace", "jtrace-post"):
        for shell, path in FILES.items():
            found[path.format(program)] = completion(shell, program, tables)
    for name, page in pages(texts, tables, when).items():
        found[f"man/man1/{name}.1"] = page
    return found


def write(folder, build, java):
    when = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))
    for path, text in files(build, java, when).items():
        file = folder / "share" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=SOURCE / "build")
    parser.add_argument("--java", default="java")
    arguments = parser.parse_args()
    try:
        write(arguments.folder, arguments.build.resolve(), arguments.java)
    except Missing as missing:
        print(f"shell.py: {missing}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
