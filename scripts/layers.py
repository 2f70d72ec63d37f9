#!/usr/bin/env python3
"""Checks that each C++ file includes only files of its own folder and of folders that are listed before
it in cmake/layers.txt, and draws that list.

usage: scripts/layers.py check [SOURCE_FOLDER]
       scripts/layers.py widest [COUNT]         lists the headers that most files include
       scripts/layers.py picture                draws docs/layers.svg, with Graphviz's dot
       scripts/layers.py picture --check        checks that it shows the current folders and arrows

exit codes: 0 all includes go downwards · 1 some do not, one line each; the picture is out of date · 2 wrong
usage, or the list is missing
"""
import collections
import html
import pathlib
import re
import subprocess
import sys

LIST = "cmake/layers.txt"
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
ROOTS = ("common", "proto", "agent", "postproc")
PICTURE = "docs/layers.svg"


def read_layers(source):
    """Folder → its contents, from below."""
    lines = (source / LIST).read_text().splitlines()
    rows = (line.split(":", 1) for line in lines if line.strip() and not line.startswith("#"))
    return {folder.strip(): what.strip() for folder, what in rows}


def sources(source):
    for root in ROOTS:
        for file in sorted((source / root).rglob("*")):
            if file.suffix in (".h", ".cc", ".c"):
                yield file.relative_to(source)


def includes(source):
    """(file, included file), relative to the source folder; without headers of other projects."""
    for file in sources(source):
        for name in INCLUDE.findall((source / file).read_text()):
            if (source / name).is_file():
                yield file, pathlib.PurePosixPath(name)


def check(source):
    layers = read_layers(source)
    height = {folder: number for number, folder in enumerate(layers)}
    wrong = []
    for file in sources(source):
        if str(file.parent) not in height:
            wrong.append(f"{file}: its folder is missing in {LIST}")
    for file, included in includes(source):
        upper, lower = height.get(str(file.parent)), height.get(str(included.parent))
        if upper is not None and lower is not None and lower > upper:
            wrong.append(f"{file}: includes {included}, but {included.parent} is listed after {file.parent}"
                         f" in {LIST}")
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


def widest(source, count):
    users = collections.Counter(str(included) for _, included in includes(source))
    for name, number in users.most_common(count):
        print(f"{number:5} {name}")
    return 0


def arrows(source, layers):
    """Pairs of folders, user and used, without those that follow from the others."""
    uses = collections.defaultdict(set)
    for file, included in includes(source):
        if file.parent != included.parent:
            uses[str(file.parent)].add(str(included.parent))
    reach = {}
    for folder in layers:  # from below: the folders that it uses are done before
        reach[folder] = set().union(*(reach[used] | {used} for used in uses[folder] if used in reach))
    for folder in layers:
        for used in sorted(uses[folder]):
            if not any(used in reach.get(other, ()) for other in uses[folder] - {used}):
                yield folder, used


def shown(source):
    """Folders and arrows of the picture."""
    titles = re.findall(r"<title>(.*?)</title>", (source / PICTURE).read_text())
    return set(html.unescape(title) for title in titles) - {"layers"}


def check_picture(source):
    layers = read_layers(source)
    wanted = set(layers) | {f"{user}->{used}" for user, used in arrows(source, layers)}
    if shown(source) == wanted:
        return 0
    print(f"{PICTURE} is out of date; run scripts/layers.py picture", file=sys.stderr)
    return 1


def picture(source):
    layers = read_layers(source)
    lines = ["digraph layers {", "rankdir=TB; bgcolor=white; ranksep=0.35; nodesep=0.2;",
             'node [shape=box style="rounded,filled" fillcolor="#f3f6fa" color="#8aa0b8" fontname="Helvetica"'
             " fontsize=11 margin=\"0.12,0.06\"];", 'edge [color="#8aa0b8" arrowsize=0.6];']
    for folder, what in layers.items():
        lines.append(f'"{folder}" [label="{folder}" tooltip="{what}"];')
    lines += [f'"{folder}" -> "{used}";' for folder, used in arrows(source, layers)] + ["}"]
    drawn = subprocess.run(["dot", "-Tsvg"], input="\n".join(lines), text=True, capture_output=True, check=True)
    (source / PICTURE).write_text(drawn.stdout)
    return 0


def main():
    words = sys.argv[1:]
    source = pathlib.Path(__file__).resolve().parents[1]
    if words[:1] == ["check"] and len(words) < 3:
        source = pathlib.Path(words[1]) if len(words) == 2 else source
        if not (source / LIST).is_file():
            print(f"layers.py: {source} has no {LIST}", file=sys.stderr)
            return 2
        return check(source)
    if words[:1] == ["widest"] and len(words) < 3:
        return widest(source, int(words[1]) if len(words) == 2 else 10)
    if words == ["picture"]:
        return picture(source)
    if words == ["picture", "--check"]:
        return check_picture(source)
    print(__doc__.strip(), file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
