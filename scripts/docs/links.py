"""Checks the links between Markdown files."""
import re

from .programs import printed


def markdown_files(source):
    listed = printed(["git", "-C", source, "ls-files", "--cached", "--others", "--exclude-standard", "*.md"])
    return sorted({source / name for name in listed.splitlines() if (source / name).is_file()})


def without_code(markdown):
    markdown = re.sub(r"^```.*?^```", "", markdown, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "", markdown)


def anchors(markdown):
    """The anchors that GitHub makes of headings."""
    prose = re.sub(r"^```.*?^```", "", markdown, flags=re.M | re.S)
    names, seen = set(), {}
    for heading in re.findall(r"^#+ (.*)$", prose, re.M):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        names.add(name if name not in seen else f"{name}-{seen[name]}")
        seen[name] = seen.get(name, 0) + 1
    return names


def broken_links(source):
    for file in markdown_files(source):
        for target in re.findall(r"\]\(([^)\s]+)[^)]*\)", without_code(file.read_text())):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            there = (file.parent / name) if name else file
            where = f"{file.relative_to(source)}: link to {target}"
            if not there.exists():
                yield f"{where}: no such file"
            elif anchor and there.suffix == ".md" and anchor not in anchors(there.read_text()):
                yield f"{where}: no such heading"
