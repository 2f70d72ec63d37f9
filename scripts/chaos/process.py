"""One JVM under test: started, watched, signalled, reaped with its peak memory."""
import ctypes
import os
import signal
import subprocess
import threading
import time

TICK_S = 0.05
SYS_TGKILL = 234  # x86-64


class Patience:
    """Seconds of this process: the time in which it was stopped does not count."""

    def __init__(self, seconds):
        self.left = seconds
        self.spent = 0.0
        self.last = time.monotonic()

    def tick(self, seconds=TICK_S):
        time.sleep(seconds)
        now = time.monotonic()
        passed = min(now - self.last, seconds + 1.0)
        self.last = now
        self.left -= passed
        self.spent += passed
        return self.left > 0


class Jvm:
    """Has its own process group, so that the processes it leaves can be ended with it."""

    def __init__(self, command, folder, patience_s):
        self.folder = folder
        self.patience = Patience(patience_s)
        self.status = None
        self.peak_kb = 0
        self.ended = threading.Event()
        with open(folder / "stdout.txt", "wb") as out, open(folder / "stderr.txt", "wb") as err:
            self.child = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out,
                                          stderr=err, start_new_session=True)
        self.pid = self.child.pid
        threading.Thread(target=self._reap, daemon=True).start()

    def _reap(self):
        _, status, usage = os.wait4(self.pid, 0)
        self.status = status
        self.child.returncode = os.waitstatus_to_exitcode(status)
        self.peak_kb = usage.ru_maxrss
        self.ended.set()

    @property
    def lives(self):
        return not self.ended.is_set() and self.patience.left > 0

    @property
    def exit(self):
        return None if self.status is None else os.waitstatus_to_exitcode(self.status)

    def pause(self, seconds):
        """Waits, or less if the JVM ends meanwhile. Returns whether it still runs."""
        end = self.patience.spent + seconds
        while self.lives and self.patience.spent < end:
            self.patience.tick(max(0.001, min(TICK_S, end - self.patience.spent)))
        return self.lives

    def signal(self, number):
        if self.ended.is_set():
            return
        try:
            os.kill(self.pid, number)
        except ProcessLookupError:
            pass

    def signal_thread(self, numbers, number):
        """Sends the signal to a random thread."""
        try:
            thread = int(numbers.choice(sorted(os.listdir(f"/proc/{self.pid}/task"))))
        except (FileNotFoundError, ProcessLookupError, IndexError):
            return
        ctypes.CDLL(None, use_errno=True).syscall(SYS_TGKILL, self.pid, thread, number)

    def wait(self):
        """Returns whether the JVM ended in time; if not, describes its threads and ends it."""
        while self.lives:
            self.patience.tick()
        if self.ended.is_set():
            return True
        self.describe_hang()
        self.end()
        return False

    def end(self):
        """Ends the JVM and the processes that it started."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.ended.wait()

    def describe_hang(self):
        """hang.txt: what each thread waits for; the JVM prints its own dump on its output."""
        with open(self.folder / "hang.txt", "w") as report:
            for task in sorted(os.listdir(f"/proc/{self.pid}/task")):
                for part in ("comm", "wchan", "syscall", "status"):
                    try:
                        with open(f"/proc/{self.pid}/task/{task}/{part}") as text:
                            report.write(f"{task} {part} {text.read()}\n")
                    except OSError:
                        pass
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGQUIT)
        time.sleep(2)


def run_tool(command, folder, patience_s=180):
    """A short command: its exit code (None: it did not end), output and errors."""
    try:
        done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=patience_s, check=False)
    except subprocess.TimeoutExpired:
        return None, "", f"did not end within {patience_s} s"
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
