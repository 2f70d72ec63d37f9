"""The command jtrace and JVMs in other namespaces of pids, mounts and users."""
import sys

from container import AS_USER, USER, WITHOUT_SYSCALL, Case, as_alone, child_of, execute

RECORDING = r"recording to \S+ \(.*\)\n"
WROTE = r"wrote \S+: ([\d,]+ calls, )?[\d,]+ samples, .*"
WITHOUT_CAPABILITIES = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"]
NEEDS_TMP = r"jtrace: cannot (make|open) \S+: .*; the JVM needs a writable /tmp"


class Commands(Case):
    """A recording is begun, looked at and ended from outside and from inside."""

    def record(self, pid, prefix=()):
        name = self.volume / "attached.bin"
        library = f"--lib={self.products}/lib/libjtrace.so"
        self.assert_answer(self.jtrace("start", pid, library, f"out={name}", prefix=prefix), RECORDING)
        self.assert_answer(self.jtrace("status", pid, prefix=prefix), r"state +recording for .*\n")
        self.assert_answer(self.jtrace("metrics", pid, prefix=prefix), r"process \d+: \d+ threads")
        self.assert_answer(self.jtrace("report", pid, "--report=tree", prefix=prefix), "call tree")
        self.assert_answer(self.jtrace("stop", pid, prefix=prefix), WROTE)
        self.summary(name)
        name.unlink()

    def test_from_outside_and_inside(self):
        with self.container([]) as pid:
            self.assert_answer(self.jtrace("list"), rf"(^|\n){pid} +- +Contained wait\n")
            self.record(pid)
            self.assert_answer(self.jtrace("list", prefix=self.inside(pid)), r"^1 +agent +Contained wait\n$")
            self.record(1, self.inside(pid))

    def test_of_another_user(self):
        with self.container([], user=AS_USER) as pid:
            self.record(pid)
            self.record(pid, AS_USER)
            self.record(1, self.inside(pid))
            self.record(1, self.inside(pid, *AS_USER))
            belongs = rf"jtrace: process {pid} belongs to another user: run jtrace as that user, or as root"
            self.assert_one_line(self.jtrace("start", pid, prefix=as_alone(USER + 1)), belongs)

    def test_with_hidden_processes(self):
        mounts = "mount -t tmpfs none /tmp\nmount -t proc -o hidepid=2 proc /proc"
        with self.container([], user=as_alone(USER), mounts=mounts) as pid:
            self.record(pid)
            self.record(1, self.inside(pid, *as_alone(USER)))
            other = self.inside(pid, *as_alone(USER + 1))
            self.assertEqual(self.jtrace("list", prefix=other).out, "")
            self.assert_one_line(self.jtrace("start", "1", prefix=other), r"jtrace: there is no process 1")

    def test_beside_it_with_the_same_pids(self):
        """As a second container of a pod that shares its process namespace."""
        with self.container([], pids=False) as pid:
            self.record(pid)

    def test_without_capabilities(self):
        with self.container([], user=WITHOUT_CAPABILITIES) as pid:
            self.record(pid, WITHOUT_CAPABILITIES)
            self.record(1, self.inside(pid, *WITHOUT_CAPABILITIES))

    def test_without_openat2(self):
        with self.container([]) as pid:
            for error in ("1", "38"):
                self.record(pid, [sys.executable, str(WITHOUT_SYSCALL), "openat2,statx", error])

    def test_two_levels(self):
        """From outside of both, of the inner one, and inside."""
        outer = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--propagation", "private"]
        with self.container(outer) as pid:
            inner = child_of(pid)
            self.record(inner)
            self.record(1, self.inside(inner))

    def test_agent_at_the_start(self):
        with self.container([], options=f"out={self.trace}") as pid:
            self.assert_answer(self.jtrace("list"), rf"(^|\n){pid} +recording +Contained wait\n")
            self.assert_answer(self.jtrace("stop", pid), WROTE)
            self.record(1, self.inside(pid))
        self.summary(self.trace)


class Refusals(Case):
    def test_read_only_tmp(self):
        for mounts in ("mount -t tmpfs -o ro none /tmp", "mount -t tmpfs none /tmp\nmount -o remount,ro /tmp"):
            with self.container([], mounts=mounts) as pid:
                self.assert_one_line(self.jtrace("start", pid), NEEDS_TMP)
                self.assert_one_line(self.jtrace("start", "1", prefix=self.inside(pid)), NEEDS_TMP)
                self.assert_one_line(self.jtrace("metrics", pid), NEEDS_TMP)

    def test_root_without_capabilities(self):
        """Root of a container reaches its own JVMs without any capability, those of other users with SYS_PTRACE."""
        with self.container([], user=as_alone(USER)) as pid:
            for prefix, number in ((WITHOUT_CAPABILITIES, pid), (self.inside(pid, *WITHOUT_CAPABILITIES), 1)):
                refusal = rf"jtrace: process {number} cannot be read: run jtrace as its user \({USER}\), with its " \
                          r"capabilities, or with SYS_PTRACE"
                self.assert_one_line(self.jtrace("start", number, prefix=prefix), refusal)
                self.assert_one_line(self.jtrace("metrics", number, prefix=prefix), refusal)

    def test_user_namespace_that_does_not_know_root(self):
        prefix = [*AS_USER, "unshare", "--user", "--map-root-user"]
        if execute([*prefix, "true"]).exit != 0:
            self.skipTest("not verified: users may not make user namespaces here")
        with self.container(prefix) as pid:
            refusal = r"jtrace: .* its user namespace does not know this user[:;] run jtrace as its user"
            self.assert_one_line(self.jtrace("start", pid), refusal)
            started = self.jtrace("start", pid, f"out={self.trace}", prefix=AS_USER)
            self.assert_answer(started, RECORDING)
            self.assert_answer(self.jtrace("stop", pid, prefix=AS_USER), WROTE)

    def test_half_inside(self):
        """With the container's /proc and pids of outside, a signal would reach another process."""
        with self.container([]) as pid:
            for half in (["-m"], ["-p"]):
                run = self.jtrace("start", "1" if half == ["-m"] else pid, prefix=["nsenter", "-t", str(pid), *half])
                self.assert_one_line(run, r"jtrace: /proc shows another pid namespace: .*")

    def test_shared_tmp(self):
        """Two containers, the same pid, one /tmp: the second one records and says why jtrace cannot reach it."""
        shared = self.volume / "tmp"
        shared.mkdir()
        mounts = f"mount --bind {shared} /tmp"
        taken = r"jtrace: the jtrace command cannot reach this JVM: another jtrace listens at /tmp/\.jtrace-0/1; " \
                r"give each container its own /tmp, or use control=off"
        with self.container([], options=f"out={self.volume}/first.bin", mounts=mounts) as pid:
            second = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--propagation", "private",
                      "bash", "-euc", f"{mounts}\nexec \"$@\"", "bash"]
            command = self.java_command(f"out={self.trace}")
            command.insert(1, "-XX:-UsePerfData")  # its file is taken, too, which the JVM itself reports on stdout
            self.assert_recorded(execute([*second, *command]), taken)
            self.assert_answer(self.jtrace("stop", pid), WROTE)
        self.summary(self.volume / "first.bin")
