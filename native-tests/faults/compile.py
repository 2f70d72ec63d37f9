#!/usr/bin/env python3
"""Compiles what each planted fault touches, with the fault, by the flags of build/compile_commands.json.

Usage: native-tests/faults/compile.py [NAME…]
  NAME  of a fault, without the folder and .patch; may have * and ?

A source is only checked (-fsyntax-only): nothing is linked, and no test runs. A header is compiled in the source of
the same name, or else in one that includes it. scripts/faults.sh --compile calls this.
"""
import fnmatch
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FAULTS = Path(__file__).resolve().parent
BUILD = ROOT / "build"
JDK = os.environ.get("JTRACE_JDK_HOME", "/usr/lib/jvm/java-17-openjdk-amd64")
PROBES = "agent/calls/java"
JAVA_JARS = sorted(Path("/usr/share/java").glob("*j[ua][nr]*.jar"))


def read_commands():
    """{source: its compile command}; a batch compiles the sources that it includes."""
    commands = {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        file = Path(entry["file"])
        command = shlex.split(entry["command"])
        # Without the output and the input.
        words = command[: command.index("-o")]
        files = [file]
        if "Unity" in file.parts and file.exists():
            files += [Path(name) for name in re.findall(r'^#include "(.*)"', file.read_text(), re.M)]
        for one in files:
            if one.is_relative_to(ROOT):
                commands.setdefault(str(one.relative_to(ROOT)), (entry["directory"], words))
    return commands


def unit_of(file, commands):
    """The source that is compiled for a touched file; None if none is."""
    if file in commands:
        return file
    own = re.sub(r"\.h$", ".cc", file)
    if own in commands:
        return own
    users = subprocess.run(["git", "grep", "-lF", f'#include "{file}"', "--", "*.cc"], cwd=ROOT, text=True,
                           capture_output=True).stdout.split()
    return next((user for user in users if user in commands), None)


def cpp_command(file, overlay, commands):
    unit = unit_of(file, commands)
    if unit is None:
        return None
    directory, words = commands[unit]
    patched = overlay / unit
    if not patched.exists():  # a header is touched
        patched.parent.mkdir(parents=True, exist_ok=True)
        patched.write_bytes((ROOT / unit).read_bytes())
    return [words[0], f"-I{overlay}", *words[1:], "-fsyntax-only", str(patched)], directory


def java_command(file, overlay):
    out = str(overlay / "classes")
    if file.startswith(PROBES + "/"):
        path = f"{overlay / PROBES}:{ROOT / PROBES}"
        return [f"{JDK}/bin/javac", "-source", "11", "-target", "11", "-XDignore.symbol.file", "-nowarn",
                "--patch-module", f"java.base={path}", "-d", out, str(overlay / file)], ROOT
    folders = [root / "agent/api" / name for root in (overlay, ROOT) for name in ("java", "junit5", "maven")]
    return [f"{JDK}/bin/javac", "--release", "17", "-d", out, "-sourcepath", ":".join(map(str, folders)),
            "-cp", ":".join(map(str, JAVA_JARS)), str(overlay / file)], ROOT


def command_of(file, overlay, commands):
    """(words, folder) to compile a patched file; None: nothing knows how."""
    suffix = Path(file).suffix
    if suffix in (".cc", ".h"):
        return cpp_command(file, overlay, commands)
    if suffix == ".java":
        return java_command(file, overlay)
    if suffix == ".py":
        return [sys.executable, "-c", "import ast, sys; ast.parse(open(sys.argv[1]).read())", str(overlay / file)], ROOT
    return None


def compile_fault(patch, commands):
    """What is wrong with a fault; "" if it compiles."""
    files = re.findall(r"^\+\+\+ b/(\S+)", patch.read_text(), re.M)
    with tempfile.TemporaryDirectory() as folder:
        overlay = Path(folder)
        for file in files:
            (overlay / file).parent.mkdir(parents=True, exist_ok=True)
            (overlay / file).write_bytes((ROOT / file).read_bytes())
        applied = subprocess.run(["git", "apply", "--unsafe-paths", f"--directory={overlay}", str(patch)], cwd="/",
                                 text=True, capture_output=True)
        if applied.returncode != 0:
            return applied.stderr
        for file in files:
            command = command_of(file, overlay, commands)
            if command is None:
                return f"nothing compiles {file}\n"
            done = subprocess.run(command[0], cwd=command[1], text=True, capture_output=True)
            if done.returncode != 0:
                return done.stdout + done.stderr
    return ""


def main():
    if any(argument.startswith("-") for argument in sys.argv[1:]):
        sys.exit(__doc__)
    patterns = sys.argv[1:] or ["*"]
    patches = sorted(patch for patch in FAULTS.glob("*.patch")
                     if any(fnmatch.fnmatchcase(patch.stem, pattern) for pattern in patterns))
    if not patches:
        sys.exit("compile.py: no fault matches")
    commands = read_commands()
    broken = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for patch, errors in zip(patches, pool.map(lambda it: compile_fault(it, commands), patches)):
            if errors:
                broken += 1
                print(f"== {patch.stem} does not compile\n" + "\n".join(errors.splitlines()[:12]), flush=True)
    print(f"{len(patches) - broken} of {len(patches)} faults compile")
    sys.exit(broken != 0)


if __name__ == "__main__":
    main()
