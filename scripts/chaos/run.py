"""One run: the choices of its seed, its execution, and its outcome."""
import dataclasses
import os
import pathlib
import random
import shutil
import subprocess

from . import checks, counts, options
from .commands import FAULTS
from .faults import ANY, CLOSED, EXACT, NONE, PREFIX, SAME, Fault
from .places import SOURCE
from .process import Jvm, run_tool
from .programs import PROGRAMS

LEAST_PATIENCE_S, PATIENCE_TIMES = 300, 60
BESIDE = 0.4  # of the runs also have a condition
REPORTS = ("summary", "flat", "tree", "arcflow")


@dataclasses.dataclass
class Limits:
    """The choices of a session; names, or None for all."""
    jdks: list
    programs: tuple = None
    faults: tuple = None


def one(numbers, things, weights=None):
    return numbers.choices(things, weights)[0]


class Run:
    """Everything follows from the seed, and each choice has its own random numbers: a limit on one
    does not change the others, where they are still possible."""

    def __init__(self, seed, limits, build, base):
        self.seed, self.build, self.source = seed, build, SOURCE
        numbers = {what: random.Random(f"{seed}/{what}")
                   for what in ("jdk", "program", "fault", "beside", "way")}
        self.jdk = one(numbers["jdk"], limits.jdks)
        wanted = [FAULTS[name] for name in limits.faults or FAULTS if FAULTS[name].is_possible()]
        kind = one(numbers["fault"], wanted, [fault.weight for fault in wanted])
        self.fault = kind(numbers["fault"])
        self.beside = self.pick_beside(numbers["beside"], wanted)
        here = [p for p in PROGRAMS if p.is_here(self.jdk)
                and (limits.programs is None or p.name in limits.programs)]
        adds_threads = kind.adds_threads or self.beside.adds_threads
        fitting = [p for p in here if (p.long or not kind.needs_long)
                   and not (p.fills_heap and adds_threads)] or here
        self.program = one(numbers["program"], fitting, [p.weight for p in fitting])
        self.way = options.random_way(numbers["way"], self.program.scope, kind.often or self.beside.often,
                                      kind.single)
        self.jvm_options = options.random_jvm(numbers["way"], self.jdk, self.program.heavy)
        self.other_first = numbers["way"].random() < 0.3
        self.counted = self.program.can_count(self.jdk) and numbers["way"].random() < 0.85
        self.wants_arcs = self.counted and self.program.arcs and numbers["way"].random() < 0.7
        self.folder = pathlib.Path(base) / f"seed-{seed}"
        self.trace_folder = self.folder
        self.wrap, self.other_commands, self.helpers, self.found = [], [], [], []
        self.with_agent, self.jvm, self.helping = True, None, []
        self.compared = ""

    def pick_beside(self, numbers, wanted):
        """For some runs a condition under which the fault happens; otherwise none."""
        conditions = [kind for kind in wanted if kind.is_condition and kind is not type(self.fault)]
        if self.fault.is_condition or not conditions or numbers.random() >= BESIDE:
            return Fault(numbers)
        return one(numbers, conditions)(numbers)

    def describe(self):
        agent = self.way.text() if self.with_agent else "attached"
        fault = self.fault.name + (f"+{self.beside.name}" if self.beside.is_condition else "")
        return (f"JDK {self.jdk.major}, {self.program.name}, {fault}; {agent};"
                f" {' '.join(self.jvm_options)}")

    def find(self, what, text):
        self.found.append(f"{what}: {text}")

    def note(self, line):
        with open(self.folder / "commands.txt", "a") as notes:
            notes.write(line + "\n")

    # --- functions for faults ---

    def traces(self):
        found = [f for f in self.trace_folder.glob("trace*.bin") if f.is_file()]
        return sorted(found, key=lambda f: (len(f.name), f.name))

    def _wait(self, condition):
        """Returns false if the JVM ends first."""
        while self.jvm.lives:
            if condition():
                return True
            self.jvm.pause(0.02)
        return False

    def wait_for_recording(self):
        return self._wait(lambda: any(f.stat().st_size for f in self.traces()))

    def wait_for_socket(self):
        path = pathlib.Path(f"/tmp/.jtrace-{os.geteuid()}/{self.jvm.pid}")
        return self._wait(path.exists)

    def wait_for_start(self):
        """Waits until the JVM accepts attaches, and handles SIGTERM."""
        performance = pathlib.Path(f"/tmp/hsperfdata_{os.environ.get('USER', 'root')}/{self.jvm.pid}")
        self._wait(performance.exists)
        return self.jvm.pause(0.3)

    def mount_small_disk(self, size):
        """Works only if this process has its own mount namespace."""
        disk = self.folder / "disk"
        disk.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "chaos", str(disk)],
                              capture_output=True, check=False)
        if done.returncode == 0:
            self.trace_folder = disk
        return done.returncode == 0

    # --- a run ---

    def command(self):
        name = "trace.%n.bin" if "loop" in self.way.options else "trace.bin"
        agent = f"-agentpath:{self.build.agent}={self.way.text(out=self.trace_folder / name)}"
        others = list(self.other_commands)
        if self.counted:
            verb = "arcs" if self.wants_arcs else "on"
            others += [f"{verb} {self.program.counted}", f"out {self.folder / 'counts.txt'}"]
        agents = [agent] if self.with_agent else []
        if others:
            other = f"-javaagent:{self.build.other_agent}={'|'.join(others)}"
            agents = [other] + agents if self.other_first else agents + [other]
        crash = ["-XX:ErrorFile=" + str(self.folder / "hs_err.log"), "-XX:-CreateCoredumpOnCrash"]
        return (self.wrap + [self.jdk.java] + self.jvm_options + crash + agents
                + self.program.command(self.build, self.folder / "made"))

    def execute(self, plain):
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "made").mkdir(parents=True)
        self.fault.prepare(self)
        self.beside.prepare(self)
        command = self.command()
        (self.folder / "command.txt").write_text("\n".join(command) + "\n")
        self.helping = []
        try:
            for each in self.helpers:
                self.helping.append(subprocess.Popen(each, stdout=subprocess.DEVNULL))
            patience = max(LEAST_PATIENCE_S, PATIENCE_TIMES * plain.seconds)
            self.jvm = Jvm(command, self.folder, patience)
            self.fault.during(self)
            ended = self.jvm.wait()
        finally:
            if self.jvm:
                self.jvm.end()
            for helper in self.helping:
                helper.kill()
                helper.wait()
        outcome = self.outcome(plain, ended)
        self.compared = checks.compared(outcome)
        return self.found + checks.check(outcome)

    def outcome(self, plain, ended):
        read = lambda name: (self.folder / name).read_bytes().decode(errors="replace")
        methods, arcs = self.other_counts()
        expected = self.fault.expected
        if expected.output == CLOSED:
            expected = dataclasses.replace(expected, output=ANY if self.program.closes_itself else PREFIX)
        made = self.folder / "made" if expected.output == SAME else None
        crashes = [f.name for f in self.folder.glob("hs_err*")] + [f.name for f in self.folder.glob("core*")]
        heap = options.HEAP_MB * (3 if "-XX:+UseZGC" in self.jvm_options else 1)
        return checks.Outcome(
            expected, self.jvm.exit, self.program.output(read("stdout.txt"), made),
            read("stderr.txt"), plain.exit, plain.out, plain.err, ended, tuple(crashes),
            self.jvm.peak_kb / 1024,
            plain.peak_kb / 1024 + heap + self.memory_mb() + checks.MARGIN_MB,
            self.way.counts or not self.with_agent, self.is_part(), tuple(map(self.report, self.traces())),
            methods, arcs)

    def memory_mb(self):
        """Windows choose their own memory, and recordings of other kinds keep theirs."""
        return self.way.memory_mb if self.fault.expected.counts == EXACT else 8 * 256

    def is_part(self):
        return self.way.is_part

    def other_counts(self):
        file = self.folder / "counts.txt"
        if not self.counted or not self.program.writes_counts or self.fault.expected.counts == NONE:
            return None, None
        if not file.exists():
            return None, None
        methods, arcs = counts.other_counts(file)
        if not self.wants_arcs:
            return methods, None
        # Folded paths lose their callers; calls that leave the scope are between caller and callee.
        exact = not {"maxdepth", "boundary"} & set(self.way.options)
        exact = exact and self.way.options.get("record") != "flat"
        exact = exact and self.fault.expected.counts == EXACT and not self.is_part()
        return None, counts.arcs_within(arcs, self.program.counted) if exact else None

    def report(self, trace):
        report = checks.Report(trace.name, trace.stat().st_size)
        texts = {}
        for name in REPORTS:
            code, out, err = run_tool(
                [str(self.build.post), f"--report={name}", "--format=csv", str(trace)], self.folder, 300)
            if code == 2 and len(err.strip().splitlines()) == 1:
                report.refused = err.strip()[:200]
                return report
            if code != 0:
                report.failed = f"{trace.name}: --report={name}: exit {code}: {err.strip()[:200]}"
                return report
            texts[name] = out
        report.summary = dict(line.split(",", 1) for line in texts["summary"].splitlines() if "," in line)
        scope = self.program.counted or "cases/ InTurn Ends Generated"
        report.flat = counts.within(counts.of_flat(texts["flat"]), scope)
        report.tree = counts.within(counts.of_tree(texts["tree"]), scope)
        report.arcs = counts.arcs_within(counts.of_arcs(texts["arcflow"]), scope)
        if any(loss.startswith(checks.CLASS_LOSSES) for loss in report.losses):
            report.unprobed = self.unprobed_of(trace)
        return report

    def unprobed_of(self, trace):
        """Line by line, because a dump may be larger than the memory."""
        command = [str(self.build.post), "dump", str(trace)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True, errors="replace") as dump:
            return counts.unprobed_of(dump.stdout)

    def clean(self, keep):
        """Always unmounts; the small disk of a finding is copied first."""
        disk = self.folder / "disk"
        if disk.is_dir():
            if keep and self.trace_folder == disk:
                shutil.copytree(disk, self.folder / "of-disk", dirs_exist_ok=True)
            subprocess.run(["umount", str(disk)], capture_output=True, check=False)
        if not keep:
            shutil.rmtree(self.folder, ignore_errors=True)
