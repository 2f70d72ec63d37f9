"""Calls by routine, of the other agent and of jtrace-post, with names in one form.

jtrace distinguishes methods of one name and the same simple parameter types by their results, packages
or loaders; here they are added up, on both sides."""
import collections
import csv

PRIMITIVES = {"B": "byte", "C": "char", "D": "double", "F": "float", "I": "int", "J": "long",
              "S": "short", "Z": "boolean"}
NOBODY = "-"


def simple(name):
    return name[name.rfind(".") + 1:]


def parameters(descriptor):
    """([ILjava/util/List;)V → (int[],List)"""
    types, i = [], 1
    while descriptor[i] != ")":
        dimensions = 0
        while descriptor[i] == "[":
            dimensions += 1
            i += 1
        name = PRIMITIVES.get(descriptor[i])
        if name is None:
            end = descriptor.index(";", i)
            name = simple(descriptor[i + 1:end].replace("/", "."))
            i = end
        types.append(name + "[]" * dimensions)
        i += 1
    return "(" + ",".join(types) + ")"


def of_method(name):
    """a/B.m([I)V → a.B.m(int[])"""
    begin = name.find("(")
    return NOBODY if begin < 0 else name[:begin].replace("/", ".") + parameters(name[begin:])


def of_report(name):
    """Without packages of parameters and the result; a name without parameters is a thread."""
    begin = name.find("(")
    if begin < 0 or ")" not in name:
        return NOBODY
    types = name[begin + 1:name.rindex(")")].split(",")
    return name[:begin] + "(" + ",".join(simple(each) for each in types) + ")"


def class_of(method):
    """a.B.m(int[]) → a.B"""
    return method[:method.rfind(".", 0, max(method.find("("), 0))]


def unprobed_of(dump):
    """Classes without probes, from lines of a dump: time, thread, class-unprobed, name, reason."""
    lines = (line.rstrip("\n").split("\t", 4) for line in dump)
    return frozenset(words[3] for words in lines if len(words) > 3 and words[2] == "class-unprobed")


def other_counts(file):
    """Methods (lines "3 a/B.m()V") and arcs ("3 a/B.m()V a/C.n()V") of the other agent's file."""
    methods, arcs = collections.Counter(), collections.Counter()
    for line in file.read_text().splitlines():
        words = line.split(" ")
        if words[0] == "0":
            continue
        if len(words) == 2:
            methods[of_method(words[1])] += int(words[0])
        elif len(words) == 3:
            arcs[of_method(words[1]) + " > " + of_method(words[2])] += int(words[0])
    return methods, arcs


def _rows(text):
    return csv.DictReader(text.splitlines())


def of_flat(text):
    found = collections.Counter()
    for row in _rows(text):
        name = of_report(row["name"])
        if name != NOBODY and row["calls"] not in ("", "0"):
            found[name] += int(row["calls"])
    return found


def of_arcs(text):
    found = collections.Counter()
    for row in _rows(text):
        callee = of_report(row["self"])
        if row["row"] in ("parent", "rparent") and callee != NOBODY and row["calls"] not in ("", "0"):
            found[of_report(row["name"]) + " > " + callee] += int(row["calls"])
    return found


def of_tree(text):
    """The sums over the nodes of each routine."""
    found = collections.Counter()
    for row in _rows(text):
        name = of_report(row["name"])
        if row["origin"] != "thread" and name != NOBODY and row["calls"] not in ("", "0"):
            found[name] += int(row["calls"])
    return found


def within(found, prefixes):
    """The counts of classes whose names begin with one of the prefixes, separated by blanks."""
    begins = tuple(prefix.replace("/", ".") for prefix in prefixes.split())
    return collections.Counter({name: n for name, n in found.items() if name.startswith(begins)})


def arcs_within(found, prefixes):
    begins = tuple(prefix.replace("/", ".") for prefix in prefixes.split())
    return collections.Counter(
        {arc: n for arc, n in found.items()
         if all(end == NOBODY or end.startswith(begins) for end in arc.split(" > "))})
