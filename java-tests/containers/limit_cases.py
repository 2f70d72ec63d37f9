"""Limits of control groups: memory, processor time, processes."""
import contextlib
import os
import re
import subprocess
from pathlib import Path

from container import EXIT, Case, execute, in_mounts

MB = 1 << 20
LEAST, MOST = 64, 1024  # MB: what memory= is by default
GROUPS = Path("/sys/fs/cgroup")
IN_GROUP = 'echo $$ > "$1/cgroup.procs"; shift; exec "$@"'
AGENT_THREADS = 4  # the writer, two of the socket, and the one that ticks (timer=wall)
DYNAMIC_THREADS = 2  # of the JVM's compilers, which start more or fewer


def tree_memory(result):
    """The default of memory= in MB, as the agent's first line shows it."""
    return int(re.search(r"memory=(\d+)m", result.err[0])[1])


class FakeVersion2(Case):
    """The files that a container of version 2 has at /sys/fs/cgroup; its own path is hidden there."""

    def default_under(self, limit, used=50 * MB):
        files = {"cgroup.controllers": "cpu memory pids", "memory.max": limit, "memory.current": used,
                 "memory.stat": f"anon 1\ninactive_file {MB}", "cpu.max": "50000 100000", "pids.max": "100"}
        groups = self.volume / "groups"
        groups.mkdir(exist_ok=True)
        for name, content in files.items():
            (groups / name).write_text(f"{content}\n")
        run = self.run_program(in_mounts('mount --bind "$1" /sys/fs/cgroup', groups))
        self.assert_recorded(run)
        return tree_memory(run)

    def test_the_default_follows_the_limit(self):
        at_most = [self.default_under(limit * MB) for limit in (128, 512, 1024)]
        self.assertEqual(at_most[0], LEAST)
        self.assertLess(at_most[1], 256)
        self.assertEqual(at_most, sorted(at_most))
        self.assertLess(at_most[0], at_most[2])
        self.assertLess(at_most[2], 512)

    def test_no_limit(self):
        free = self.run_program([])
        self.assertAlmostEqual(self.default_under("max"), tree_memory(free), delta=256)  # others use memory, too

    def test_no_groups_at_all(self):
        empty = self.volume / "empty"
        empty.write_text("")
        self.assert_recorded(self.run_program(in_mounts('mount -t tmpfs none /sys; mount --bind "$1" /proc/meminfo',
                                                        empty)))


class RealGroups(Case):
    @contextlib.contextmanager
    def group(self, controller, **files):
        """The beginning of a command in a group of its own; keys have __ for a dot."""
        parents = [GROUPS / controller, GROUPS] if (GROUPS / controller).is_dir() else [GROUPS]
        folder = parents[0] / f"jtrace-{os.getpid()}"
        try:
            folder.mkdir()
        except OSError as error:
            self.skipTest(f"not verified: no control group can be made: {error}")
        try:
            for name, value in files.items():
                file = folder / name.replace("__", ".")
                if not file.exists():
                    self.skipTest(f"not verified: control groups here have no {file.name}")
                file.write_text(str(value))
            yield ["bash", "-c", IN_GROUP, "bash", str(folder)]
        finally:
            folder.rmdir()

    def file_of(self, version1, version2):
        return version1 if (GROUPS / "memory").is_dir() else version2

    def test_memory(self):
        name = self.file_of("memory__limit_in_bytes", "memory__max")
        with self.group("memory", **{name: 512 * MB}) as inside:
            run = self.run_program(inside)
            self.assert_recorded(run)
            self.assertLess(tree_memory(run), 256)
            self.assertGreaterEqual(tree_memory(run), LEAST)

    def test_a_fifth_of_a_processor(self):
        limit = {"cpu__cfs_quota_us": 20_000} if (GROUPS / "cpu").is_dir() else {"cpu__max": "20000 100000"}
        with self.group("cpu", **limit) as inside:
            self.assert_recorded(self.run_program(inside))

    def test_processes(self):
        """The agent's threads count, too: where the limit leaves them and a few of the JVM's, nothing fails."""
        with self.group("pids", pids__max=64) as inside:
            folder = Path(inside[-1])
            least = next(count for count in range(8, 64) if self.runs_plain(folder, inside, count))
            (folder / "pids.max").write_text(str(least + AGENT_THREADS + DYNAMIC_THREADS))
            self.assert_recorded(self.run_program(inside))
            self.trace.unlink()
            self.assert_recorded(self.run_program(inside, "timer=wall"))

    def runs_plain(self, folder, inside, count):
        (folder / "pids.max").write_text(str(count))
        try:
            run = execute([*inside, *self.java_command()])
        except subprocess.TimeoutExpired:
            return False
        return run.exit == EXIT and run.out == self.plain.out and not run.err
