#!/usr/bin/env python3
"""Follows a recipe of CONTRIBUTING.md literally, in a copy, and runs the test that the recipe adds.

Usage: native-tests/recipes_test.py RECIPE TARGET FILTER [--build=FOLDER]
  RECIPE  a heading of CONTRIBUTING.md, "An option of the agent"
  TARGET  the GoogleTest program that has the recipe's test
  FILTER  of its tests, as for --gtest_filter

Each step of a recipe names a file and a line, and has a block of code:

    **1. The field.** In `agent/options/options.h`, before `bool help = false;`:
    ```cpp
      bool quiet = false;
    ```

or, for a new file, "New file `agent/…`:". A line is written without indentation, and the file has it once. Sources that
the build has are not changed: what depends on a changed file is compiled into BUILD/recipes, by the commands of the
build, and linked with the rest. Changed sources that the program does not have are only checked (-fsyntax-only).
"""
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STEP = re.compile(r"^(?:\*\*[^*\n]+\*\* )?(?:In `(?P<file>[^`]+)`, (?P<where>before|after) `(?P<line>[^`]+)`"
                  r"|New file `(?P<new>[^`]+)`)[^\n]*:\n+```\w*\n(?P<code>.*?)\n```$", re.M | re.S)


class Wrong(Exception):
    """The recipe cannot be followed, or does not work."""


def section(heading):
    text = (ROOT / "CONTRIBUTING.md").read_text()
    match = re.search(rf"^### {re.escape(heading)}\n(.*?)(?=^##)", text, re.M | re.S)
    if match is None:
        raise Wrong(f"CONTRIBUTING.md has no recipe '{heading}'")
    return match[1]


def insert(text, step):
    lines = text.split("\n")
    found = [i for i, line in enumerate(lines) if line.strip() == step["line"]]
    if len(found) != 1:
        raise Wrong(f"{step['file']} has {len(found)} lines '{step['line']}', not one")
    at = found[0] + (step["where"] == "after")
    return "\n".join(lines[:at] + step["code"].split("\n") + lines[at:])


def apply(recipe, copy):
    """Writes the changed files into `copy`; returns their names."""
    changed = {}
    for match in STEP.finditer(section(recipe)):
        step = match.groupdict()
        if step["new"] is not None:
            changed[step["new"]] = step["code"] + "\n"
            continue
        if step["file"] not in changed:
            changed[step["file"]] = (ROOT / step["file"]).read_text()
        changed[step["file"]] = insert(changed[step["file"]], step)
    if not changed:
        raise Wrong(f"the recipe '{recipe}' has no steps")
    for name, text in changed.items():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_text(text)
    return sorted(changed)


def run(command, folder):
    done = subprocess.run(command, cwd=folder, text=True, capture_output=True, shell=isinstance(command, str))
    if done.returncode != 0:
        raise Wrong(f"{command if isinstance(command, str) else shlex.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


class Program:
    """A target of the build, made again with the changed files."""

    def __init__(self, build, copy, changed):
        self.build, self.copy, self.changed = build, copy, changed
        self.sources = {str(ROOT / name) for name in changed}
        self.compiled = set()
        self.remade = {}  # by its name in the build folder

    def dependencies(self):
        """{object: the files that it was made from}"""
        found, current = {}, None
        for line in run(["ninja", "-t", "deps"], self.build).splitlines():
            if line and not line.startswith(" "):
                current = found.setdefault(line.split(":")[0], set())
            elif line.strip():
                current.add(str((self.build / line.strip()).resolve()))
        return found

    def make(self, target):
        deps = self.dependencies()
        for command in run(["ninja", "-t", "commands", target], self.build).splitlines():
            compiled = re.search(r" -o (\S+\.o) -c (\S+)$", command)
            if compiled:
                if deps.get(compiled[1], set()) & self.sources or self.new_sources(Path(compiled[2])):
                    self.compile(command, compiled[1], Path(compiled[2]))
            elif self.remade and re.search(r" qc | -o ", command):
                self.link(command)
        return self.remade[f"tests/{target}"]

    def compile(self, command, made, source):
        target = self.new(made)
        source = self.changed_source(source)
        # The copies first; without the file of dependencies.
        command = re.sub(r" -MD -MT \S+ -MF \S+", "", command)
        command = re.sub(r" -o \S+\.o -c \S+$", f" -o {target} -c {source}", command)
        run(command.replace("c++ ", f"c++ -I{self.copy} ", 1), self.build)

    def changed_source(self, source):
        """The copy of a source, or of a batch that includes changed and new ones."""
        if source.is_relative_to(ROOT) and str(source) in self.sources:
            self.compiled.add(str(source))
            return self.copy / source.relative_to(ROOT)
        if "Unity" not in source.parts:
            return source
        text = source.read_text()
        for name in self.new_sources(source):
            text += f'#include "{ROOT / name}"\n'
        parts = re.findall(r'^#include "(.*)"', text, re.M)
        for name in self.changed:
            original, copied = str(ROOT / name), str(self.copy / name)
            if original in parts:
                text = text.replace(f'#include "{original}"', f'#include "{copied}"')
                self.compiled.add(original)
        batch = self.copy / "batches" / source.relative_to(self.build)
        batch.parent.mkdir(parents=True, exist_ok=True)
        batch.write_text(text)
        return batch

    def new_sources(self, batch):
        """New sources of the batch's folder that no batch has yet."""
        if "Unity" not in batch.parts:
            return []
        folders = {Path(part).parent for part in re.findall(r'^#include "(.*)"', batch.read_text(), re.M)}
        return [name for name in self.changed if name.endswith(".cc") and not (ROOT / name).exists()
                and str(ROOT / name) not in self.compiled and (ROOT / name).parent in folders]

    def new(self, made):
        target = self.copy / "made" / made
        target.parent.mkdir(parents=True, exist_ok=True)
        self.remade[made] = target
        return target

    def link(self, command):
        """An archive or a program, if one of its parts was made again."""
        output = (re.search(r" qc (\S+)", command) or re.search(r" -o (\S+)", command))[1]
        words = command.split(" ")
        if not any(word in self.remade for word in words):
            return
        self.new(output)
        run(" ".join(str(self.remade.get(word, word)) for word in words), self.build)

    def check_the_rest(self):
        """Changed sources that the program does not have."""
        entries = json.loads((self.build / "compile_commands.json").read_text())
        for name in self.changed:
            original = ROOT / name
            if original.suffix != ".cc" or str(original) in self.compiled:
                continue
            for entry in entries:
                file = Path(entry["file"])
                if str(original) == entry["file"] or "Unity" in file.parts and f'"{original}"' in file.read_text():
                    words = shlex.split(entry["command"])
                    run([words[0], f"-I{self.copy}", *words[1:words.index("-o")], "-fsyntax-only",
                         str(self.copy / name)], self.build)
                    break
            else:
                raise Wrong(f"nothing compiles {name}")


def main():
    arguments = [word for word in sys.argv[1:] if not word.startswith("--build=")]
    if len(arguments) != 3:
        sys.exit(__doc__)
    recipe, target, tests = arguments
    build = next((Path(word[8:]).resolve() for word in sys.argv[1:] if word.startswith("--build=")), ROOT / "build")
    copy = build / "recipes" / re.sub(r"\W+", "-", recipe)
    shutil.rmtree(copy, ignore_errors=True)
    try:
        program = Program(build, copy, apply(recipe, copy))
        made = program.make(target)
        program.check_the_rest()
        out = run([str(made), f"--gtest_filter={tests}"], copy)
    except Wrong as wrong:
        sys.exit(f"CONTRIBUTING.md, '{recipe}': {wrong}")
    if "[  PASSED  ] 0 tests" in out:
        sys.exit(f"CONTRIBUTING.md, '{recipe}': no test is called {tests}")
    print(f"'{recipe}' changes {len(program.changed)} files: {', '.join(program.changed)}; {tests} passes")


if __name__ == "__main__":
    main()
