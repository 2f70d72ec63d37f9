#!/usr/bin/env python3
"""Compares the bytecode that jtrace shows with javap's, instruction by instruction.

usage: compare_disassembly.py JTRACE_DISASSEMBLE JDK [CLASSES]

Classes of java.base are extracted from the JDK's image, and some hundreds of them, evenly spread, are
printed by both. Mnemonics and operands must be equal: bcis, jumps, switches, constants.

exit codes: 0 equal · 1 not, the first differences are printed
"""
import pathlib
import re
import subprocess
import sys
import tempfile

PACKAGES = "java/(lang|util|io|math|nio|text)|jdk/internal/(math|util)|sun/security/util"
CONSTANT = re.compile(r"#\d+(?:,\s+(\d+))?\s*// (.*)$", re.S)


def classes_of(jdk, folder, count):
    subprocess.run([jdk / "bin/jimage", "extract", f"--dir={folder}", f"--include=regex:/java.base/({PACKAGES})/.*",
                    jdk / "lib/modules"], check=True, stdout=subprocess.DEVNULL)
    files = sorted(folder.rglob("*.class"))
    step = max(1, len(files) // count)
    return files[::step]


def operands(mnemonic, text):
    """As jtrace writes them: constants as javap's comment, without their index. javap cuts blanks at line ends."""
    constant = CONSTANT.match(text)
    if not constant:
        return re.sub(r"\s+", " ", text)
    number, comment = constant.groups()
    return f"{comment}, {number}" if mnemonic == "multianewarray" else comment


def read_javap(text):
    """(descriptor, instructions) of each method with code, in the order of the class files."""
    methods = []
    descriptor = None
    lines = iter(text.splitlines())
    for line in lines:
        if match := re.match(r"    descriptor: (\S+)", line):
            descriptor = match[1]
        elif line == "    Code:":
            methods.append((descriptor, []))
        elif match := re.match(r" +(\d+): (\S+)(?: +(.*))?$", line):
            bci, mnemonic, rest = match.groups()
            rest = rest or ""
            if mnemonic in ("tableswitch", "lookupswitch"):
                cases = []
                while (case := next(lines).strip()) != "}":
                    cases.append(re.sub(r"\s+", " ", case))
                rest = ", ".join(cases)
            # Rows of exception tables look like nothing of this.
            methods[-1][1].append((int(bci), mnemonic, operands(mnemonic, rest).rstrip()))
    return methods


def read_ours(text):
    methods = []
    for line in text.split("\n"):
        if line.startswith("METHOD "):
            methods.append((line.split(" ")[2], []))
        elif line and not line.startswith("CLASS "):
            bci, mnemonic, rest = line.split("\t", 2)
            methods[-1][1].append((int(bci), mnemonic, rest.rstrip()))
    return methods


def run(command):
    """The output as text: class files have modified UTF-8, whose odd bytes both sides lose alike."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode("utf-8", "replace")


def differences(ours, theirs):
    for (our_type, our_code), (their_type, their_code) in zip(ours, theirs):
        if our_type != their_type or len(our_code) != len(their_code):
            yield f"method {our_type} with {len(our_code)} instructions, javap {their_type} with {len(their_code)}"
            continue
        yield from (f"{ours}, javap {theirs}" for ours, theirs in zip(our_code, their_code) if ours != theirs)


def main():
    tool, jdk = sys.argv[1], pathlib.Path(sys.argv[2])
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 400
    found = compared = 0
    with tempfile.TemporaryDirectory() as folder:
        files = classes_of(jdk, pathlib.Path(folder), count)
        for at in range(0, len(files), 200):
            batch = files[at:at + 200]
            javap = [jdk / "bin/javap", "-J-Dfile.encoding=UTF-8", "-J-Dstdout.encoding=UTF-8", "-c", "-p", "-s"]
            theirs = read_javap(run(javap + batch))
            ours = read_ours(run([tool] + batch))
            if len(ours) != len(theirs):
                sys.exit(f"{len(ours)} methods with code, javap has {len(theirs)}")
            compared += sum(len(code) for _, code in ours)
            for difference in differences(ours, theirs):
                found += 1
                if found <= 20:
                    print(difference[:300])
    print(f"{len(files)} classes, {compared} instructions, {found} differences")
    sys.exit(1 if found or compared < 50_000 else 0)


if __name__ == "__main__":
    main()
