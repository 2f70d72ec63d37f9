"""Faults of a JVM while it records. Each fault says what the run must fulfil."""
import dataclasses
import os
import signal

SAME, PREFIX, CLOSED = "same", "prefix", "closed"
EXACT, AT_MOST, AT_LEAST, NONE = "exact", "at most", "at least", "none"
WHOLE, CUT, ANY = "whole", "cut", "any"


@dataclasses.dataclass
class Expected:
    """`exits`: None for the program's own; `counts`: jtrace's compared with the other agent's;
    `output`: CLOSED: a prefix, except for programs that close themselves, which may print errors;
    `trace`: whole with its end, cut, or any; `reported`: missing calls need a line or a loss that
    reports them; `says`: a part of stderr that must be there."""
    exits: tuple = None
    output: str = SAME
    counts: str = EXACT
    trace: str = WHOLE
    reported: bool = False
    says: str = ""


class Fault:
    """No fault: only options."""
    name = "none"
    weight = 3
    single = False  # one file from the start to the end
    often = False   # 10 kHz
    needs_long = False
    adds_threads = False  # of the other agent's
    expected = Expected()
    # It changes only how the JVM starts, and expects nothing else: it may be combined with another.
    is_condition = False

    def __init__(self, numbers):
        self.numbers = numbers

    @staticmethod
    def is_possible():
        return True

    def prepare(self, run):
        """Changes the run's command before it starts."""

    def during(self, run):
        """Called while the JVM runs; returns when there is nothing more to do."""


class Stops(Fault):
    """SIGSTOP and SIGCONT, now and then or as a duty cycle of a tenth."""
    name = "stops"

    def during(self, run):
        throttles = self.numbers.random() < 0.3
        steps = 60
        while run.jvm.lives and steps:
            steps -= 1
            run.jvm.pause(0.01 if throttles else self.numbers.uniform(0.001, 0.3))
            run.jvm.signal(signal.SIGSTOP)
            run.jvm.pause(0.09 if throttles else self.numbers.uniform(0.001, 0.2))
            run.jvm.signal(signal.SIGCONT)
        run.jvm.signal(signal.SIGCONT)


class Signals(Fault):
    """Harmless signals, to random threads; thread dumps are written to a file."""
    name = "signals"
    HARMLESS = (signal.SIGURG, signal.SIGCHLD, signal.SIGWINCH, signal.SIGCONT)

    def prepare(self, run):
        run.jvm_options += ["-XX:+LogVMOutput", "-XX:-DisplayVMOutput", "-XX:LogFile=vm.log"]

    def during(self, run):
        dumps = 8
        if not run.wait_for_recording():
            return
        while run.jvm.pause(self.numbers.uniform(0.0005, 0.01)):
            if dumps and self.numbers.random() < 0.02:
                dumps -= 1
                run.jvm.signal(signal.SIGQUIT)
            else:
                run.jvm.signal_thread(self.numbers, self.numbers.choice(self.HARMLESS))


class Kill(Fault):
    """SIGKILL at any moment."""
    name = "kill"
    single = True
    expected = Expected((-signal.SIGKILL,), PREFIX, NONE, CUT)

    def during(self, run):
        run.wait_for_recording()
        run.jvm.pause(self.numbers.uniform(0, 4) * self.numbers.random())
        run.jvm.signal(signal.SIGKILL)


class Terminate(Fault):
    """SIGTERM: threads go on while the other agent writes its counts."""
    name = "term"
    needs_long = True
    expected = Expected((128 + signal.SIGTERM,), CLOSED, AT_LEAST)

    def during(self, run):
        run.wait_for_start()
        run.jvm.pause(self.numbers.uniform(0, 2))
        run.jvm.signal(signal.SIGTERM)


class FewDescriptors(Fault):
    """Few descriptors."""
    name = "descriptors"
    is_condition = True

    def prepare(self, run):
        run.wrap += ["prlimit", f"--nofile={self.numbers.choice((40, 64, 100))}"]


class Stalls(Fault):
    """One processor, which the JVM cannot use for 30 to 600 ms again and again."""
    name = "stalls"
    is_condition = True

    @staticmethod
    def is_possible():
        return os.geteuid() == 0

    def prepare(self, run):
        processor = str(self.numbers.choice(sorted(os.sched_getaffinity(0))))
        run.wrap += ["taskset", "-c", processor]
        run.helpers.append(["taskset", "-c", processor, "python3", str(run.source / "scripts/stall.py")])


class Slow(Fault):
    """One processor, shared with programs of higher priority."""
    name = "slow"
    is_condition = True

    def prepare(self, run):
        processor = str(self.numbers.choice(sorted(os.sched_getaffinity(0))))
        run.wrap += ["taskset", "-c", processor, "nice", "-n", "19"]


class DiskFull(Fault):
    """The trace's disk is full after some kilobytes, or its files may not grow."""
    name = "full"
    weight = 2
    expected = Expected(counts=AT_MOST, trace=ANY, reported=True)

    def prepare(self, run):
        size = self.numbers.choice((4, 16, 64, 100, 200, 400, 1000)) * 1024
        if not run.mount_small_disk(size):
            run.wrap += ["prlimit", f"--fsize={size}"]


class Removed(Fault):
    """The trace is removed, or emptied, while it is written."""
    name = "removed"
    single = True
    expected = Expected(counts=NONE, trace=ANY)

    def during(self, run):
        if not run.wait_for_recording():
            return
        run.jvm.pause(self.numbers.uniform(0, 2))
        removes = self.numbers.random() < 0.5
        for trace in run.traces():
            if removes:
                trace.unlink()
            else:
                os.truncate(trace, 0)
        # A program that ends at once may have printed its last line before.
        if run.jvm.pause(1):
            how = "removed" if removes else "made shorter"
            self.expected = dataclasses.replace(self.expected, says=f"was {how} while it was written")


class Pipe(Fault):
    """A pipe in place of the trace, with or without a reader: the agent refuses it at the start."""
    name = "pipe"
    weight = 0.3
    single = True
    reader = None
    expected = Expected((1,), PREFIX, NONE, ANY, says="it is not a file")

    def prepare(self, run):
        pipe = run.folder / "trace.bin"
        os.mkfifo(pipe)
        if self.numbers.random() < 0.5:
            self.reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)

    def during(self, run):
        run.jvm.wait()
        if self.reader is not None:
            os.close(self.reader)


class Retransformed(Fault):
    """The other agent retransforms or redefines random classes of the program again and again."""
    name = "redefine"
    adds_threads = True
    is_condition = True
    weight = 2

    def prepare(self, run):
        verb = self.numbers.choice(("retransform", "retransform", "redefine-some"))
        pause = self.numbers.choice((1, 10, 50))
        prefix = run.program.counted.split()[0] if run.program.counted else "cases/"
        seed = self.numbers.randrange(1 << 30)
        run.other_commands.append(f"{verb} {prefix} {pause} {seed}")


class Forks(Fault):
    """A thread of the program starts short processes all the time."""
    name = "forks"
    adds_threads = True
    is_condition = True

    def prepare(self, run):
        run.other_commands.append(f"forks {self.numbers.choice((1, 5, 20))}")


class Often(Fault):
    """10 kHz."""
    name = "often"
    is_condition = True
    often = True


SIMPLE = (Fault, Stops, Signals, Kill, Terminate, FewDescriptors, Stalls, Slow, DiskFull, Removed, Pipe,
          Retransformed, Forks, Often)
