"""Reads what the agent's option table has for docs/OPTIONS.md: each option's initial value and an example."""
import re

from .messages import literals

TABLE = "agent/options/option_table.cc"


def options(source):
    """Name → (initial value, example), in the order of the table."""
    entries = (source / TABLE).read_text().split("{.name = ")[1:]
    found = {}
    for entry in entries:
        fields = {name: "".join(literals(words)) for name, words in re.findall(r"\.(\w+) = ((?:\"[^\"]*\"\s*)+)", entry)}
        found[literals(entry)[0]] = (fields.get("initial", ""), fields["example"])
    return found
