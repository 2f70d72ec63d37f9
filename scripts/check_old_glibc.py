#!/usr/bin/env python3
"""Fails if a product of an ordinary build could not be linked for a release: it uses, itself or through libstdc++'s
archive, functions of the C library that version 2.31 lacks and common/old_glibc does not bring.

Which those are is seen in the C library: all versions of such a symbol are newer. What the product takes from
libstdc++ is linked from the archive, as in a release, and only what the linker keeps of it counts. 0.2 s.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

RELEASE = (2, 31)
# In libc_nonshared.a of 2.31, which is linked into each product.
NONSHARED = {"stat", "lstat", "fstat", "fstatat", "stat64", "lstat64", "fstat64", "fstatat64", "mknod", "mknodat",
             "atexit", "at_quick_exit", "pthread_atfork"}


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def newer_symbols(compiler, nm):
    """Names that C libraries of RELEASE do not have."""
    versions = {}
    for library in ("libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"):
        file = output_of(compiler, f"-print-file-name={library}").strip()
        for name, version in re.findall(r" (\S+?)@@?GLIBC_([0-9.]+)$", output_of(nm, "-D", "--defined-only", file), re.M):
            versions.setdefault(name, []).append(tuple(map(int, version.split("."))))
    return {name for name, known in versions.items() if min(known) > RELEASE}


def used_symbols(nm, file):
    """(name, version) of what `file` cannot do without; weak references can stay empty."""
    return re.findall(r"^ +U (\w+)(?:@(\S+))?$", output_of(nm, "-D", "--undefined-only", file), re.M)


def used_of_archives(compiler, nm, names):
    """What the linker takes from libstdc++.a and libgcc_eh.a for these names uses this."""
    with tempfile.TemporaryDirectory() as folder:
        words, library = pathlib.Path(folder, "words"), f"{folder}/library.so"
        words.write_text("\n".join(f"-Wl,-u,{name}" for name in names))
        subprocess.run([compiler, "-shared", "-o", library, "-static-libstdc++", "-static-libgcc",
                        "-Wl,--gc-sections,--exclude-libs,ALL", f"@{words}"], check=True)
        return {name for name, _ in used_symbols(nm, library)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--old-glibc", required=True, help="the object of common/old_glibc/symbols.cc")
    parser.add_argument("product")
    arguments = parser.parse_args()
    nm, compiler, product = arguments.nm, arguments.compiler, arguments.product

    used = dict(used_symbols(nm, product))
    of_archives = used_of_archives(compiler, nm, [name for name, version in used.items()
                                                  if re.match("GLIBCXX_|CXXABI_|GCC_", version)])
    brought = NONSHARED | set(re.findall(r" (\w+)$", output_of(nm, "--defined-only", arguments.old_glibc), re.M))
    missing = sorted(newer_symbols(compiler, nm) & (set(used) | of_archives) - brought)
    for name in missing:
        way = "" if name in used else " through libstdc++.a"
        print(f"{product} uses {name}{way}: the C library 2.31 lacks it, so no release could be linked",
              file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
