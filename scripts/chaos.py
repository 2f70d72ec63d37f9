#!/usr/bin/env python3
"""Random real programs under jtrace, with random faults: signals, kills, attaches, a full disk,
other agents, stalls.

The seed of a run decides its JDK, program, options, fault, and time of the fault. Its output must
be the same as without jtrace, its counts those of a second agent that counts in the same run, its
trace readable, its memory bounded; the JVM must not crash or hang. Anything else is a finding: one
line, with the command that repeats it, and a folder with the trace, output and the JVM's report.

examples
  scripts/chaos.py                                  half a minute, from seed 1
  scripts/chaos.py --seed=4711 --runs=1             one run again
  scripts/chaos.py --hours=8 --progress=FILE        a night; --resume continues where it was stopped
  scripts/chaos.py --only-fault=kill,full --program=h2 --jdk=/usr/lib/jvm/java-17-openjdk-amd64
  scripts/chaos.py --list                           programs, faults and JDKs

exit codes: 0 no finding · 1 findings · 2 wrong usage, or something is not built
"""
import argparse
import fcntl
import os
import shutil
import signal
import sys
import tempfile

sys.dont_write_bytecode = True  # no files in the source folder

from chaos import places
from chaos.commands import FAULTS
from chaos.programs import PROGRAMS
from chaos.run import Limits
from chaos.session import Progress, Session

DEFAULT_SECONDS = 30
OWN_MOUNTS = "JTRACE_CHAOS_MOUNTS"


def words_of(known):
    def parse(text):
        words = tuple(text.split(","))
        for word in words:
            if word not in known:
                raise argparse.ArgumentTypeError(f"'{word}' is not one of {', '.join(known)}")
        return words
    return parse


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--seed", type=int, default=1, help="seed of the first run (1)")
    add("--runs", type=int, help="end after this number of runs")
    add("--seconds", type=float,
        help=f"end after this time ({DEFAULT_SECONDS}, without --runs and --hours)")
    add("--hours", type=float)
    add("--jdk", action="append", type=places.Jdk, metavar="HOME",
        help="repeat for others (those found)")
    add("--program", type=words_of([p.name for p in PROGRAMS]), metavar="NAME[,NAME…]")
    add("--only-fault", type=words_of(list(FAULTS)), metavar="NAME[,NAME…]")
    add("--progress", metavar="FILE", help="last seed, seconds by JDK, findings")
    add("--resume", action="store_true", help="with --progress: continue after the last seed")
    add("--keep", metavar="FOLDER", help="folder for the findings (a new one in /tmp)")
    add("--build", default=places.SOURCE / "build", metavar="FOLDER", help="a build folder (build)")
    add("--quiet", action="store_true", help="print only findings and the total")
    add("--list", action="store_true", help="list programs, faults and JDKs")
    return parser.parse_args()


def show_list(jdks):
    for jdk in jdks:
        print(f"jdk      {jdk.major:<12} {jdk.home}")
    for program in PROGRAMS:
        print(f"program  {program.name:<12} {program.scope}")
    for fault in FAULTS.values():
        print(f"fault    {fault.name:<12} {fault.__doc__.splitlines()[0]}")


def take_own_mounts():
    """Makes mounts private to this process; without the right to mount, files are limited."""
    if os.environ.get(OWN_MOUNTS) or os.geteuid() != 0 or not shutil.which("unshare"):
        return
    if os.system("unshare --mount --propagation private true 2>/dev/null") == 0:
        os.environ[OWN_MOUNTS] = "1"
        os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable] + sys.argv)


def interrupt(*_):
    raise KeyboardInterrupt


def complain(text):
    print(f"chaos: {text}", file=sys.stderr)
    return 2


def lock(folder):
    """Two sessions would write the same folders. Returns the lock's holder, None if it is taken."""
    holder = open(os.path.join(folder, "lock"), "w")
    try:
        fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return None
    return holder


def run_session(session, arguments, first):
    """Returns the number of wrong runs. Signals also end it, with the processes that it started."""
    seconds = arguments.hours * 3600 if arguments.hours else arguments.seconds
    if seconds is None and arguments.runs is None:
        seconds = DEFAULT_SECONDS
    # In the background of a shell SIGINT is ignored by default.
    signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGTERM, interrupt)
    return session.many(first, arguments.runs, seconds)


def main():
    arguments = parse_arguments()
    jdks = arguments.jdk or places.find_jdks()
    if arguments.list:
        show_list(jdks)
        return 0
    build = places.Build(arguments.build)
    if build.missing() or not jdks:
        what = build.missing()[0] if jdks else "a JDK of release 17 or later"
        return complain(f"{what} is missing: scripts/build.sh release jtrace_agent jtrace-post jtrace"
                        " jtrace_java_tests")
    take_own_mounts()
    base = os.path.abspath(arguments.keep or tempfile.mkdtemp(prefix="jtrace-chaos-"))
    os.makedirs(base, exist_ok=True)
    holder = lock(base)
    if holder is None:
        return complain(f"another session uses {base}: end it, or choose another --keep=FOLDER")
    progress = Progress(arguments.progress, arguments.resume)
    limits = Limits(jdks, arguments.program, arguments.only_fault)
    session = Session(build, limits, base, progress, not arguments.quiet)
    first = arguments.seed if progress.last_seed is None else progress.last_seed + 1
    wrong = run_session(session, arguments, first)
    print(f"chaos: {progress.total()}")
    if not wrong and not arguments.keep:
        shutil.rmtree(base, ignore_errors=True)
    holder.close()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
