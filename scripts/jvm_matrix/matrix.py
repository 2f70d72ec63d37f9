"""Which runs: JVMs, programs and flags of JVMs, and a cover of all pairs of them."""
import dataclasses
import itertools
import pathlib
import re


@dataclasses.dataclass(frozen=True)
class Jvm:
    """A JVM of a root of scripts/roots.sh; `root` "": of this system."""
    root: str
    package: str
    home: str
    major: int
    # An unfinished release may lose samples, and must say so; its counts are exact.
    may_degrade: bool = False

    @property
    def name(self):
        return f"{self.major}-{self.root or pathlib.Path(self.home).name}"


def debian(root, major, **more):
    return Jvm(root, f"openjdk-{major}-jre-headless", f"/usr/lib/jvm/java-{major}-openjdk-amd64", major, **more)


def of_this_system():
    """Real folders of /usr/lib/jvm, not Debian's links to them."""
    for home in sorted(pathlib.Path("/usr/lib/jvm").glob("*")):
        release = home / "release"
        if home.is_symlink() or not release.is_file() or not (home / "bin/java").exists():
            continue
        found = re.search(r'JAVA_VERSION="(\d+)', release.read_text())
        if found:
            yield Jvm("", "", str(home), int(found.group(1)))


def all_jvms():
    return [debian("bullseye", 11), debian("bullseye", 17), *of_this_system(), debian("trixie", 21),
            debian("trixie", 25), debian("sid", 26), debian("sid", 27), debian("sid", 28, may_degrade=True)]


PROGRAMS = ("h2", "ecj", "clojure")

# Flags by name; a release that lacks them does not run them.
COLLECTORS = {
    "g1": ["-XX:+UseG1GC"],
    "serial": ["-XX:+UseSerialGC"],
    "parallel": ["-XX:+UseParallelGC"],
    "zgc": ["-XX:+UseZGC"],
    "shenandoah": ["-XX:+UseShenandoahGC"],
}
# hot: C2's code moves to a heap of its own while the program runs, and the JVM interrupts threads to see which is hot.
HOT = ("HeapSize=8M", "StartupDelaySeconds=1", "SampleSeconds=1", "IntervalSeconds=1", "StablePercent=100")
COMPILERS = {"tiered": [], "int": ["-Xint"], "c1": ["-XX:TieredStopAtLevel=1"], "c2": ["-XX:-TieredCompilation"],
             "hot": ["-XX:+UnlockExperimentalVMOptions", "-XX:+HotCodeHeap", *(f"-XX:HotCode{flag}" for flag in HOT)]}
OBJECTS = {"default": [], "full-oops": ["-XX:-UseCompressedOops"], "compact": ["-XX:+UseCompactObjectHeaders"],
           "archive": []}


@dataclasses.dataclass(frozen=True)
class Run:
    jvm: Jvm
    program: str
    collector: str
    compiler: str
    objects: str

    @property
    def name(self):
        return "/".join((self.jvm.name, self.program, self.collector, self.compiler, self.objects))

    def flags(self):
        flags = COLLECTORS[self.collector] + COMPILERS[self.compiler] + OBJECTS[self.objects]
        if self.collector == "zgc" and self.jvm.major < 15:
            flags = ["-XX:+UnlockExperimentalVMOptions"] + flags
        if self.collector == "zgc" and 21 <= self.jvm.major < 24:
            flags = flags + ["-XX:+ZGenerational"]
        return flags

    def pairs(self):
        levels = (self.jvm.name, self.program, self.collector, self.compiler, self.objects)
        return set(itertools.combinations(enumerate(levels), 2))


def is_possible(run):
    if run.objects == "compact" and run.jvm.major < 25:
        return False
    if run.compiler == "hot" and run.jvm.major < 27:
        return False
    if run.objects == "archive" and run.jvm.major < 17:
        return False  # archives of the program's classes came with 13
    # ZGC has no compressed references; archives are not mapped by every collector.
    if run.objects == "full-oops" and run.collector == "zgc":
        return False
    return not (run.objects == "archive" and run.collector in ("zgc", "shenandoah"))


def cover(jvms):
    """The fewest runs that a greedy search finds so that every possible pair of levels is in one."""
    runs = [run for run in itertools.starmap(Run, itertools.product(jvms, PROGRAMS, COLLECTORS, COMPILERS, OBJECTS))
            if is_possible(run)]
    wanted = set().union(*(run.pairs() for run in runs)) if runs else set()
    chosen = []
    while wanted:
        best = max(runs, key=lambda run: len(run.pairs() & wanted))
        wanted -= best.pairs()
        chosen.append(best)
    return sorted(chosen, key=lambda run: (run.jvm.major, run.name))
