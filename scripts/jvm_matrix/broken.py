"""JVMs whose tables about themselves are broken, entry by entry (java-tests/broken_jvm)."""
import csv
import dataclasses
import re
import subprocess

# Far values are ignored as such; near ones are other fields. A static's zero is a word of zeros.
CHANGES = {"field": ("+8", "-8", "wild", "absent"), "static": ("+8", "wild", "zero", "absent"),
           "size": ("+8", "wild", "zero", "absent"), "constant": ("+1", "wild", "absent"),
           "longconstant": ("+1", "wild", "absent")}
TIMEOUT_S = 60
# No JVM has these as it is. (Of JDK 11 the classes of awaited objects are unknown: loss.jvm.waits.)
OF_BROKEN = {"loss.jvm." + part for part in ("threads", "continuations", "allocation", "method_texts", "flags",
                                             "levels", "codelets")}
MINOR = {"loss.jvm.waits", "loss.gc.no_cause", "loss.metrics.alloc.bytes"}
OF_BROKEN |= {f"loss.samples.no_{what}" for what in ("java_frames", "compiled_frames", "inlined_methods")}
# Incomplete stacks that need no loss of their own: the summary shows their share, and a check that needs several
# compilations to decide may not have had them.
FEWEST_WRONG = 2
MOST_WRONG = 0.03


@dataclasses.dataclass(frozen=True)
class Break:
    part: str
    kind: str
    name: str
    change: str

    @property
    def option(self):
        return f"{self.kind}:{self.name}={self.change}"


def all_breaks(listing):
    """Of the lines of jtrace_vm_reads."""
    for line in listing.splitlines():
        part, kind, owner, field = line.split("\t")
        name = "::".join(text for text in (owner, field) if text)
        for change in CHANGES[kind]:
            yield Break(part, kind, name, change)


def some(breaks):
    """Of each part and change the first two, for a short test."""
    taken = {}
    for each in breaks:
        group = (each.part, each.change)
        taken[group] = taken.get(group, 0) + 1
        if taken[group] <= 2:
            yield each


@dataclasses.dataclass
class Place:
    """Where a JVM is, and the files for it. `wrap` makes a command run there."""
    java: str
    agent: str
    post: str
    breaker: str
    classes: str
    out: str
    wrap: callable = list

    def run(self, words):
        return subprocess.run(self.wrap(["timeout", "-k", "5", str(TIMEOUT_S), *words]), capture_output=True,
                              text=True, errors="replace", check=False)

    def record(self, number, option):
        """The program's end, and a path of its trace."""
        trace = f"{self.out}/{number}.bin"
        agents = [] if option is None else [
            f"-agentpath:{self.breaker}={option}",
            f"-agentpath:{self.agent}=mode=merged,timer=wall,interval=2ms,metrics=alloc.bytes,out={trace}"]
        return self.run([self.java, *agents, "-XX:-CreateCoredumpOnCrash", "-XX:ErrorFile=/dev/null", "-Xmx256m", "-cp",
                         self.classes, "BrokenWork", "3"]), trace

    def report(self, name, trace):
        done = self.run([self.post, f"--report={name}", "--format=csv", trace])
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip()[-200:])
        return list(csv.DictReader(done.stdout.splitlines()))


@dataclasses.dataclass
class Whole:
    """What a recording has in a JVM that nothing was broken in."""
    output: str
    calls: dict
    losses: frozenset


def calls_of(place, trace):
    return {row["name"]: row["calls"] for row in place.report("flat", trace) if row["name"].startswith("BrokenWork.")}


def losses_of(rows):
    return frozenset(key for key in rows if key.startswith("loss."))


def summary_of(place, trace):
    return {row["key"]: row["value"] for row in place.report("summary", trace)}


def whole(place):
    plain, _ = place.record("plain", None)
    done, trace = place.record("whole", "field:No::_such=absent")
    if plain.returncode != 0 or done.returncode != 0:
        raise RuntimeError(f"the unbroken JVM ends with {plain.returncode}, {done.returncode}: {done.stderr[-200:]}")
    losses = losses_of(summary_of(place, trace))
    if losses & OF_BROKEN:
        raise RuntimeError(f"the unbroken JVM has {', '.join(sorted(losses & OF_BROKEN))}")
    return Whole(plain.stdout, calls_of(place, trace), losses)


def fault_of(place, number, each, expected):
    """(effect, fault): whether the entry exists, and was noticed; what must not be."""
    done, trace = place.record(number, each.option)
    found = re.search(r"break: (\d+) entries", done.stderr)
    if found and found[1] == "0":
        return "no such entry", None
    if done.returncode != 0:
        return "", f"ended with {done.returncode}: {' / '.join(done.stderr.strip().splitlines()[-3:])[-200:]}"
    if done.stdout != expected.output:
        return "", "the output differs"
    try:
        if calls_of(place, trace) != expected.calls:
            return "", "the counts differ"
        rows = summary_of(place, trace)
    except (RuntimeError, KeyError) as error:
        return "", f"the trace cannot be read: {error}"
    place.run(["rm", "-f", trace])
    samples, good = int(rows["samples"]), int(rows["samples_whole"])
    if (losses_of(rows) - expected.losses) & (OF_BROKEN | MINOR):
        return "reported", None
    if samples - good > max(FEWEST_WRONG, MOST_WRONG * samples):
        return "", f"{samples - good} of {samples} stacks are incomplete, and no loss says why"
    return "no effect", None
