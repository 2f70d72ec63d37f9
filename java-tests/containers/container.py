"""What the cases share: copies of the products in a folder that every user can read, namespaces, and the checks."""
import contextlib
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
WITHOUT_SYSCALL = SOURCE / "java-tests/without_syscall.py"
SETTINGS = {"build": SOURCE / "build", "java": "java"}  # run.py sets them
EXIT = 3  # of the program Contained
CALLS = 41_138_280  # of its method fib
PATIENCE = 120
USER = 1234  # has no name
AS_USER = ["setpriv", "--reuid", str(USER), "--clear-groups"]  # in root's group


def as_alone(user):
    """As a user who is also in no group of others: those of group 0 see hidden processes."""
    return ["setpriv", "--reuid", str(user), "--regid", str(user), "--clear-groups"]


RECORDING = r"jtrace: recording to \S+ \(.*\)"
WROTE = r"jtrace: wrote \S+: 41,138,2\d\d calls(?:, (\d+) samples)?, .*"
NO_SOCKET = r"jtrace: the jtrace command cannot reach this JVM: cannot make /tmp/\.jtrace-\d+(/\d+)?: .*; mount a " \
            r"writable /tmp, or use control=off"


def namespaces_missing():
    """Why the cases that need root and namespaces cannot run here; None: they can."""
    if os.geteuid() != 0:
        return "root"
    for tool in ("unshare", "nsenter", "setpriv", "chroot"):
        if shutil.which(tool) is None:
            return tool
    trial = "mount -t tmpfs none /mnt && mount -t proc proc /proc"
    made = subprocess.run(["unshare", "--mount", "--pid", "--fork", "--propagation", "private", "sh", "-c", trial],
                          capture_output=True, check=False)
    return None if made.returncode == 0 else "namespaces (unshare: " + made.stderr.decode().strip() + ")"


def in_mounts(script, *arguments):
    """The beginning of a command that runs in its own mounts, which `script` changes first; $1… are `arguments`."""
    shell = f"{script}\nshift {len(arguments)}\nexec \"$@\""
    return ["unshare", "--mount", "--propagation", "private", "bash", "-euc", shell, "bash", *map(str, arguments)]


class Result:
    def __init__(self, process):
        self.exit = process.returncode
        self.out = process.stdout
        self.err = process.stderr.splitlines()

    def __str__(self):
        return f"exit {self.exit}\nstdout: {self.out}\nstderr:\n" + "\n".join(self.err)


def execute(command, **more):
    return Result(subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, capture_output=True,
                                 text=True, timeout=PATIENCE, check=False, **more))


class Case(unittest.TestCase):
    """Its folder `volume` is writable by every user; `products` has lib, bin and classes."""
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        # Not below /tmp, which some cases hide, nor below the build folder, which may be root's alone.
        cls.folder = Path(tempfile.mkdtemp(prefix="jtrace-containers-", dir="/var/tmp"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.folder.chmod(0o755)
        cls.products = cls.folder / "jtrace"
        build = Path(SETTINGS["build"])
        for file in ("lib/libjtrace.so", "bin/jtrace", "bin/jtrace-post"):
            (cls.products / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(build / file, cls.products / file)
        (cls.products / "classes").mkdir()
        for file in (build / "java-tests/classes").glob("Contained*.class"):
            shutil.copy(file, cls.products / "classes")
        cls.plain = execute(cls.java_command())

    @classmethod
    def java_command(cls, options=None, arguments=()):
        agent = [] if options is None else [f"-agentpath:{cls.products}/lib/libjtrace.so={options}"]
        classes = str(cls.products / "classes")
        return [SETTINGS["java"], *agent, "-XX:+UseSerialGC", "-Xmx64m", "-cp", classes, "Contained", *arguments]

    def setUp(self):
        self.assertEqual(self.plain.exit, EXIT, self.plain)
        self.volume = Path(tempfile.mkdtemp(dir=self.folder))
        self.volume.chmod(0o777)
        self.trace = self.volume / "a.bin"

    def run_program(self, prefix, options="mode=merged", out=None):
        return execute([*prefix, *self.java_command(f"{options},out={out or self.trace}")])

    def assert_lines(self, result, lines):
        """Stderr has these lines (regular expressions) and no others."""
        self.assertEqual(len(result.err), len(lines), result)
        for line, wanted in zip(result.err, lines):
            self.assertRegex(line, "^" + wanted + "$", str(result))

    def assert_recorded(self, result, *remedies, trace=None, samples=True):
        """The program ran as without jtrace, and its trace is whole. `remedies`: lines beside the usual two; `samples`:
        whether there are some, None: either."""
        self.assertEqual((result.exit, result.out), (EXIT, self.plain.out), result)
        self.assert_lines(result, [RECORDING, *remedies, WROTE])
        if samples is not None:
            self.assertEqual(int(re.search(WROTE, result.err[-1])[1] or 0) > 0, samples, result)
        return self.summary(trace or self.trace)

    def assert_refused(self, result, remedy):
        """The process ended before the program started, with one line."""
        self.assertEqual((result.exit, result.out), (1, ""), result)
        self.assert_lines(result, [remedy])

    def summary(self, trace):
        report = execute([self.products / "bin/jtrace-post", "--report=summary", "--width=0", trace])
        self.assertEqual((report.exit, report.err), (0, []), report)
        return report.out

    def jtrace(self, *arguments, prefix=()):
        return execute([*prefix, self.products / "bin/jtrace", *arguments])

    def assert_answer(self, result, pattern):
        self.assertEqual((result.exit, result.err), (0, []), result)
        self.assertRegex(result.out, pattern)

    def assert_one_line(self, result, pattern):
        """The command failed with one line."""
        self.assertEqual((result.exit, result.out), (2, ""), result)
        self.assert_lines(result, [pattern])

    @contextlib.contextmanager
    def container(self, prefix, options=None, mounts="mount -t tmpfs none /tmp", user=(), pids=True):
        """The program in namespaces, waiting; gives its pid here and its process."""
        new = ["--pid", "--fork", "--mount-proc"] if pids else []
        command = [*prefix, "unshare", "--mount", *new, "--propagation", "private", "bash", "-euc",
                   f"{mounts}\nexec \"$@\"", "bash", *user, *self.java_command(options, ["wait"])]
        log = self.volume / "stderr"
        with open(log, "wb") as err, subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                                      stderr=err, text=True) as process:
            try:
                lines = [process.stdout.readline() for _ in range(len(self.plain.out.splitlines()) + 1)]
                self.assertEqual("".join(lines), self.plain.out + "ready\n", log.read_text())
                yield child_of(process.pid) if pids else process.pid
            except BaseException:
                process.kill() if not pids else kill_child(process.pid)
                raise
            process.stdin.close()
            self.assertEqual(process.wait(PATIENCE), EXIT, log.read_text())

    def inside(self, pid, *more):
        """The beginning of a command in the container of process `pid`."""
        return ["nsenter", "-t", str(pid), "-p", "-m", *more]


def child_of(pid):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        if children:
            return int(children[0])
        time.sleep(0.01)
    raise AssertionError("no process in the namespace")


def kill_child(pid):
    with contextlib.suppress(OSError, AssertionError):
        os.kill(child_of(pid), 9)
