"""Completion of commands in bash, zsh and fish: the tables as functions, then what reads them (completion.bash …)."""
import pathlib
import shlex

FOLDER = pathlib.Path(__file__).resolve().parent
FILE = "<FILE>"  # in place of a word: names of files
NOTE = "Made by scripts/release/shell.py from the programs' help."


def quoted(text, shell):
    if shell == "fish":
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return shlex.quote(text)


def printing(lines, shell):
    """A command that prints the lines."""
    if not lines:
        return "true"
    return "printf '%s\\n' " + " ".join(quoted(line, shell) for line in lines)


def function(name, cases, shell):
    """A shell function that prints the lines of its argument, of cases (argument → lines)."""
    by_lines = {}
    for case, lines in cases.items():
        if lines:
            by_lines.setdefault(tuple(lines), []).append(case)
    if shell == "fish":
        body = [f"    case {' '.join(quoted(case, shell) for case in found)}\n        {printing(lines, shell)}\n"
                for lines, found in by_lines.items()]
        return f"function {name}\n    switch \"$argv[1]\"\n{''.join(body)}    end\nend\n"
    body = [f"    {' | '.join(quoted(case, shell) for case in found)}) {printing(lines, shell)} ;;\n"
            for lines, found in by_lines.items()]
    return f"{name}() {{\n  case ${{1-}} in\n{''.join(body)}    *) true ;;\n  esac\n}}\n"


def row(word, meaning, shell):
    return word if shell == "bash" or not meaning else f"{word}\t{meaning}"


def words_of(option, shell):
    return [row(*word, shell) for word in option.words] + [FILE] * option.takes_file


def tables_in(shell, prefix, options, agent, takes, commands):
    """The functions: options and takes by command, '' if the program has none."""
    words, separators = {}, {}
    for command, own in options.items():
        for option in own + (agent if "agent" in takes[command] else []):
            words[f"{command} {option.name}"] = words_of(option, shell)
            separators[f"{command} {option.name}"] = [option.separator] if option.separator else []
    shown = {command: [row(option.name, option.meaning, shell) for option in own] for command, own in options.items()}
    agent_rows = [row(option.name, option.meaning, shell) for option in agent if option.name.endswith("=")]
    apart = sorted({option.name for own in options.values() for option in own if option.is_apart})
    # In fish each word is a line of its own; the others compare with " jvm agent ".
    lines_of = (lambda found: found) if shell == "fish" else (lambda found: [" ".join(found)] if found else [])
    return "\n".join([
        function(f"{prefix}_commands", {"": commands}, shell),
        function(f"{prefix}_takes", {command: lines_of(kinds) for command, kinds in takes.items()}, shell),
        function(f"{prefix}_options", shown, shell),
        function(f"{prefix}_agent", {"": agent_rows}, shell),
        function(f"{prefix}_apart", {"": lines_of(apart)}, shell),
        function(f"{prefix}_words", words, shell),
        function(f"{prefix}_separator", separators, shell),
    ])


def completion(shell, program, tables):
    """The text of the file for one shell and program."""
    prefix = {"bash": "_", "zsh": "_", "fish": "__"}[shell] + program.replace("-", "_")
    if program == "jtrace":
        options = {command.name: command.options for command in tables.commands}
        options[""] = [option for option in tables.jtrace if not option.meaning]  # --help, --version
        takes = {command.name: command.takes for command in tables.commands} | {"": []}
        commands = [row(command.name, command.meaning, shell) for command in tables.commands]
        body = tables_in(shell, prefix, options, tables.agent, takes, commands)
    else:
        body = tables_in(shell, prefix, {"": tables.post}, [], {"": ["files"]}, [])
    reader = (FOLDER / f"completion.{shell}").read_text().replace("@P@", prefix).replace("@PROGRAM@", program)
    first = f"#compdef {program}\n" if shell == "zsh" else ""
    return f"{first}# Completion of {program} in {shell}. {NOTE}\n\n{body}\n{reader}"
