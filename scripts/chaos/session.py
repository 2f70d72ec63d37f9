"""Many runs, one after the other: their reference runs, their progress, and their findings."""
import dataclasses
import json
import os
import pathlib
import shutil
import time

from . import options
from .places import SOURCE
from .process import Jvm
from .run import Run

PLAIN_PATIENCE_S = 300


@dataclasses.dataclass
class Plain:
    """A run without jtrace."""
    exit: int
    out: str
    err: str
    peak_kb: int
    seconds: float


class Plains:
    """One for each program and JDK, made when it is first needed."""

    def __init__(self, build, base):
        self.build, self.base, self.known = build, pathlib.Path(base), {}

    def of(self, program, jdk):
        key = (program.name, jdk.major)
        if key not in self.known:
            self.known[key] = self._run(program, jdk)
        return self.known[key]

    def _run(self, program, jdk):
        folder = self.base / f"plain-{program.name}-{jdk.major}"
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "made").mkdir(parents=True)
        command = [jdk.java, f"-Xmx{options.HEAP_MB}m"] + program.command(self.build, folder / "made")
        jvm = Jvm(command, folder, PLAIN_PATIENCE_S)
        if not jvm.wait() or jvm.exit != program.exit:
            raise RuntimeError(f"{program.name} on JDK {jdk.major} fails without jtrace: exit {jvm.exit}, "
                               f"see {folder}")
        read = lambda name: (folder / name).read_bytes().decode(errors="replace")
        plain = Plain(jvm.exit, program.output(read("stdout.txt"), folder / "made"), read("stderr.txt"),
                      jvm.peak_kb, jvm.patience.spent)
        shutil.rmtree(folder, ignore_errors=True)
        return plain


class Progress:
    """The progress of sessions, written after each run if there is a file."""

    def __init__(self, file, resume):
        self.file = pathlib.Path(file) if file else None
        self.last_seed = None
        self.runs = 0
        self.seconds = {}
        self.findings = []
        if resume and self.file and self.file.exists():
            old = json.loads(self.file.read_text())
            self.last_seed, self.runs = old["last_seed"], old["runs"]
            self.seconds, self.findings = old["seconds"], old["findings"]

    def add(self, seed, jdk, seconds, finding):
        self.last_seed = seed
        self.runs += 1
        self.seconds[str(jdk)] = round(self.seconds.get(str(jdk), 0) + seconds, 1)
        if finding:
            self.findings.append(finding)
        if self.file:
            fresh = self.file.with_name(self.file.name + ".new")
            fresh.write_text(json.dumps(vars(self) | {"file": str(self.file)}, indent=1) + "\n")
            os.replace(fresh, self.file)

    def total(self):
        by_jdk = ", ".join(f"JDK {major}: {spent:.0f} s" for major, spent in sorted(self.seconds.items()))
        return (f"{self.runs} runs, {sum(self.seconds.values()):.0f} s ({by_jdk}), "
                f"{len(self.findings)} findings, last seed {self.last_seed}")


def repeat_command(run, limits, build):
    words = ["scripts/chaos.py", f"--seed={run.seed}", "--runs=1", f"--jdk={run.jdk.home}"]
    if build.folder != SOURCE / "build":
        words.append(f"--build={build.folder}")
    if limits.programs:
        words.append(f"--program={','.join(limits.programs)}")
    if limits.faults:
        words.append(f"--only-fault={','.join(limits.faults)}")
    return " ".join(words)


class Session:
    def __init__(self, build, limits, base, progress, verbose):
        self.build, self.limits, self.base = build, limits, base
        self.progress, self.verbose = progress, verbose
        self.plains = Plains(build, base)
        self.left_out = set()  # programs that a JDK does not run by itself

    def one(self, seed):
        """Returns the line about what is wrong, or nothing."""
        run = Run(seed, self.limits, self.build, self.base)
        pair = (run.program.name, run.jdk.major)
        if pair in self.left_out:
            return ""
        try:
            plain = self.plains.of(run.program, run.jdk)
        except RuntimeError as why:  # no compiler in a runtime, for one
            self.left_out.add(pair)
            print(f"not verified: {why}", flush=True)
            return ""
        if self.verbose:
            print(f"seed {seed}: {run.describe()}", flush=True)
        try:
            found = run.execute(plain)
        except BaseException:  # an interrupt, or a mistake of the tester's
            run.clean(keep=False)
            raise
        line = ""
        if found:
            line = (f"FINDING seed {seed} ({run.describe()}): {' | '.join(found[:4])}"
                    f" · repeat: {repeat_command(run, self.limits, self.build)} · kept: {run.folder}")
            print(line, flush=True)
        elif self.verbose:
            print(f"  {run.jvm.patience.spent:.1f} s; {run.compared}", flush=True)
        run.clean(keep=bool(found))
        self.progress.add(seed, run.jdk.major, run.jvm.patience.spent, line)
        return line

    def many(self, first, runs, seconds):
        """Seeds in their order until the number of runs, or the time, is reached, or it is interrupted.
        Returns how many were wrong."""
        wrong, done, begin = 0, 0, time.monotonic()
        seed = first
        while (runs is None or done < runs) and (seconds is None or time.monotonic() - begin < seconds):
            try:
                wrong += bool(self.one(seed))
            except KeyboardInterrupt:
                break
            seed += 1
            done += 1
        return wrong
