"""The checks of a run. Each check takes an Outcome and returns its findings, one line each."""
import dataclasses
import re

from . import counts, faults

OWN = "jtrace: "
ORDINARY = ("jtrace: recording to ", "jtrace: wrote ")
# The JVM's own messages about its options, or about an agent that is loaded late.
JVMS_OWN = re.compile(
    r"WARNING: (A JVM TI agent has been loaded|If a serviceability tool|Dynamic loading of agents)"
    r"|VM warning: (CodeCache|Sharing is only|Try increasing the code cache|Archived|The VM option)"
    r"|\[warning\]\[(cds|codecache|aot)"
    r"|CodeHeap '|bounds \[|total_blobs|compilation: |stopped_count|full_count"
    r"|OpenJDK 64-Bit Server VM warning: .*(bootstrap loader classes|UseCompactObjectHeaders)")
MARGIN_MB = 220
FIRST_CHUNK = 512 * 1024
# Losses of classes, which the trace names one by one, and of methods, which it does not name.
CLASS_LOSSES = ("class.", "hidden_class")
METHOD_LOSSES = ("method",)


@dataclasses.dataclass
class Report:
    """The reports of jtrace-post on one trace. `refused`: the one line that it prints instead of
    reports; `failed`: the first report that it could not make, without such a line; `unprobed`:
    classes that it reports as without probes, all the time or for a while."""
    name: str
    size: int = 0
    refused: str = ""
    failed: str = ""
    summary: dict = dataclasses.field(default_factory=dict)
    flat: dict = dataclasses.field(default_factory=dict)
    tree: dict = dataclasses.field(default_factory=dict)
    arcs: dict = dataclasses.field(default_factory=dict)
    unprobed: frozenset = frozenset()

    @property
    def has_end(self):
        return "end" in self.summary

    @property
    def losses(self):
        return [key[5:] for key in self.summary if key.startswith("loss.")]


@dataclasses.dataclass
class Outcome:
    """`plain_…`: of a run without jtrace; `methods`, `arcs`: of the other agent, or None."""
    expected: faults.Expected
    exit: int = 0
    out: str = ""
    err: str = ""
    plain_exit: int = 0
    plain_out: str = ""
    plain_err: str = ""
    ended: bool = True
    crashes: tuple = ()
    peak_mb: float = 0
    most_mb: float = 1e9
    counts: bool = True
    is_part: bool = False
    reports: tuple = ()
    methods: dict = None
    arcs: dict = None


def check_end(run):
    if not run.ended:
        return ["hang: it did not end in time (hang.txt)"]
    wanted = run.expected.exits or (run.plain_exit,)
    # A fault near the end may be too late.
    late = run.expected.exits is not None and run.exit == run.plain_exit and not run.expected.says
    if run.exit in wanted or late:
        return []
    return [f"exit: {run.exit} instead of {' or '.join(map(str, wanted))}"]


def check_output(run):
    if run.out == run.plain_out or run.expected.output == faults.ANY:
        return []
    if run.expected.output == faults.PREFIX and run.plain_out.startswith(run.out):
        return []
    at = next((i for i, (a, b) in enumerate(zip(run.out, run.plain_out)) if a != b),
              min(len(run.out), len(run.plain_out)))
    return [f"output: differs at {at} of {len(run.plain_out)}: {run.out[at:at + 60]!r}"
            f" instead of {run.plain_out[at:at + 60]!r}"]


def is_known(line, known):
    """Whether a run without jtrace also prints the line. The JVM loses the line numbers of frames
    whose class is redefined before the stack trace is printed."""
    unknown = "(Unknown Source)"
    if line in known or JVMS_OWN.search(line):
        return True
    return line.endswith(unknown) and any(each.startswith(line[:-len(unknown)] + "(") for each in known)


def check_errors(run):
    known = set(run.plain_err.splitlines())
    strange = [line for line in run.err.splitlines()
               if line.strip() and not line.startswith(OWN) and not is_known(line, known)]
    found = [f"stderr: {strange[0][:200]}"] if strange and run.expected.exits is None else []
    if run.expected.says and run.expected.says not in run.err:
        found.append(f"stderr: lacks '{run.expected.says}'")
    return found


def check_crash(run):
    return [f"crash: {name}" for name in run.crashes]


def check_memory(run):
    if run.peak_mb <= run.most_mb:
        return []
    return [f"memory: peak {run.peak_mb:.0f} MB, more than {run.most_mb:.0f}"]


def may_be_refused(run, report):
    """Killed before the first chunk was complete; ended before the JVM was initialised, which the
    agent's first line would show; or the agent has reported an error."""
    if not run.err.count(ORDINARY[0]) and run.exit != run.plain_exit:
        return True
    if run.expected.trace == faults.CUT:
        return report.size < FIRST_CHUNK
    emptied_at_last = not report.size and "jtrace: wrote" in run.err
    return run.expected.trace == faults.ANY and (says_more(run) or emptied_at_last)


def may_have_ended(run):
    """It was not killed, or only after the agent had written the end and reported that."""
    return run.exit >= 0 or "jtrace: wrote" in run.err


def check_traces(run):
    found = []
    for report in run.reports:
        if report.failed:
            found.append(f"trace: {report.failed}")
        elif report.refused and not may_be_refused(run, report):
            found.append(f"trace: {report.name} of {report.size} bytes: {report.refused}")
        elif report.refused:
            pass
        elif run.expected.trace == faults.WHOLE and not report.has_end:
            found.append(f"trace: {report.name} has no end")
        elif run.expected.trace == faults.CUT and report.has_end and not may_have_ended(run):
            found.append(f"trace: {report.name} has an end, '{report.summary['end']}', but was cut")
    if not run.reports and run.expected.counts == faults.EXACT:
        found.append("trace: there is none")
    return found


def check_sums(run):
    found = []
    for report in run.reports:
        if report.failed or report.refused:
            continue
        if report.flat != report.tree:
            found.append(f"sums: {report.name}: flat and tree differ: {first(report.tree, report.flat)}")
        held = report.summary.get("invariants_held")
        if held is not None and held != "4":
            found.append(f"sums: {report.name}: {held} of 4 invariants hold")
    return found


def first(expected, actual):
    """The first few differences."""
    names = sorted(name for name in {**expected, **actual}
                   if expected.get(name, 0) != actual.get(name, 0))
    texts = [f"{name} {expected.get(name, 0)} → {actual.get(name, 0)}" for name in names[:3]]
    return f"{len(names)} differ: " + "; ".join(texts)


def says_more(run):
    """Whether the agent printed more than its first and its last line."""
    return any(line.startswith(OWN) and not line.startswith(ORDINARY) for line in run.err.splitlines())


def is_reported(run):
    return says_more(run) or any(not report.has_end for report in run.reports)


def without_excused(run, missing):
    """The methods (or arcs) of `missing` whose calls no loss explains."""
    if any(loss.startswith(METHOD_LOSSES) for report in run.reports for loss in report.losses):
        return {}
    unprobed = {name for report in run.reports for name in report.unprobed}
    return {name: calls for name, calls in missing.items()
            if not any(counts.class_of(end) in unprobed for end in name.split(" > "))}


def added(reports, what):
    total = {}
    for report in reports:
        for name, calls in getattr(report, what).items():
            total[name] = total.get(name, 0) + calls
    return total


def compare(run, what, theirs, ours):
    more = {name: n for name, n in ours.items() if n > theirs.get(name, 0)}
    fewer = {name: n for name, n in theirs.items() if n > ours.get(name, 0)}
    rule = faults.AT_MOST if run.is_part and run.expected.counts == faults.EXACT else run.expected.counts
    found = []
    if more and rule != faults.AT_LEAST:
        found.append(f"{what}: too many: {first({n: theirs.get(n, 0) for n in more}, more)}")
    if fewer and rule != faults.AT_MOST:
        fewer = without_excused(run, fewer)
    if fewer and rule != faults.AT_MOST:
        found.append(f"{what}: missing: {first(fewer, {n: ours.get(n, 0) for n in fewer})}")
    must_report = run.expected.reported and not run.is_part
    if fewer and rule == faults.AT_MOST and must_report and not is_reported(run):
        found.append(f"{what}: missing, and nothing reports it: "
                     f"{first(fewer, {n: ours.get(n, 0) for n in fewer})}")
    return found


def check_counts(run):
    if run.expected.counts == faults.NONE or not run.counts or any(r.failed for r in run.reports):
        return []
    if run.expected.counts == faults.AT_LEAST and run.is_part:
        return []  # the recording may have ended before the calls that the other agent missed
    found = []
    if run.methods is not None:
        found += compare(run, "counts", run.methods, added(run.reports, "flat"))
    if run.arcs is not None:
        found += compare(run, "arcs", run.arcs, added(run.reports, "arcs"))
    return found


def check_expectations(run):
    """The calls that the program itself prints: EXPECT, EXPECT_NEAR, TOTAL."""
    rule = run.expected
    if not run.counts or rule.counts != faults.EXACT or run.is_part or rule.output != faults.SAME:
        return []
    flat, found = added(run.reports, "flat"), []
    for slack, calls, name in re.findall(r"^EXPECT(?:_NEAR (\d+))? (\d+) (.+)$", run.out, re.M):
        off = flat.get(name, 0) - int(calls)
        if abs(off) > int(slack or 0):
            found.append(f"counts: {name}: {flat.get(name, 0)} instead of {calls}")
    for total in re.findall(r"^TOTAL (\d+)$", run.out, re.M):
        if sum(flat.values()) != int(total):
            found.append(f"counts: {sum(flat.values())} calls instead of {total}")
    return found[:3]


CHECKS = (check_end, check_output, check_errors, check_crash, check_memory, check_traces, check_sums,
          check_counts, check_expectations)


def compared(run):
    """The figures that the checks compared."""
    calls = sum(added(run.reports, "flat").values())
    theirs = "none" if run.methods is None else f"{sum(run.methods.values()):,}"
    arcs = "" if run.arcs is None else f", {len(run.arcs)} arcs"
    return (f"exit {run.exit}, {len(run.reports)} traces, {calls:,} calls, the other agent's {theirs}{arcs},"
            f" peak {run.peak_mb:.0f} of {run.most_mb:.0f} MB")


def check(run):
    """All findings of a run; for a run that did not end, only that and crashes."""
    if not run.ended:
        return check_end(run) + check_crash(run)
    return [line for each in CHECKS for line in each(run)]
