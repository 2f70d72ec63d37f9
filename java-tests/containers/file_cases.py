"""File systems: hidden kernel symbols, a read-only root, no /tmp, a user without a name, a full disk."""
import contextlib
import os
import sys
from pathlib import Path

from container import AS_USER, NO_SOCKET, USER, WITHOUT_SYSCALL, Case, as_alone, execute, in_mounts

NO_NAMES = "kernel whose /proc/kallsyms hides addresses: its frames have no names"
# The root and /tmp are read-only, the volume is not.
READ_ONLY = """mount --bind "$1" "$1"
mount --bind /tmp /tmp
mount -o remount,bind,ro /tmp
mount -o remount,bind,ro /"""
# A root of its own, with all that the machine's has except /tmp; the command runs in it.
WITHOUT_TMP = """mount -t tmpfs none "$1"
for entry in /*; do
  case $entry in
    /tmp) ;;
    *)
      if [ -L "$entry" ]; then cp -a "$entry" "$1/"
      elif [ -d "$entry" ]; then mkdir "$1$entry"; mount --rbind "$entry" "$1$entry"
      fi ;;
  esac
done
cd "$1"
set -- "$1" chroot . "${@:2}\""""


class KernelSymbols(Case):
    """Kernel frames exist only where perf events do; without them, no names are missed."""

    def check(self, content):
        hidden = self.volume / "kallsyms"
        if content is not None:
            hidden.write_text(content)
        prefix = in_mounts('mount --bind "$1" /proc/kallsyms', "/dev/null" if content is None else hidden)
        self.assert_recorded(self.run_program(prefix))
        with_perf = self.run_program(prefix, "timer=perf:cpu-clock")
        if with_perf.exit == 1:  # no perf events on this machine
            self.assertEqual(len(with_perf.err), 1, with_perf)
            return
        summary = self.assert_recorded(with_perf)
        self.assertIn(NO_NAMES, summary)
        self.assertIn("a /proc/kallsyms that no container hides", summary)

    def test_masked(self):
        self.check(None)

    def test_empty(self):
        self.check("")

    def test_zeros(self):
        self.check("0000000000000000 T _stext\n0000000000000000 t do_one_initcall\n")


class ReadOnlyRoot(Case):
    def mounts(self):
        return in_mounts(READ_ONLY, self.volume)

    def test_trace_in_a_volume(self):
        self.assert_recorded(self.run_program(self.mounts()), NO_SOCKET)

    def test_without_the_socket(self):
        self.assert_recorded(self.run_program(self.mounts(), "control=off"))

    def test_trace_in_the_root(self):
        refusal = r"jtrace: cannot write '/var/tmp/a.bin': Read-only file system; choose another file with out=FILE"
        self.assert_refused(self.run_program(self.mounts(), out="/var/tmp/a.bin"), refusal)

    def test_trace_in_the_folder_of_the_jvm(self):
        refusal = r"jtrace: cannot write 'trace.bin': Read-only file system; choose another file with out=FILE"
        command = [*self.mounts(), "env", "-C", "/", *self.java_command("mode=merged")]
        self.assert_refused(execute(command), refusal)

    def test_log_in_the_root(self):
        refusal = r"jtrace: option 'log': cannot write '/var/tmp/a.log': Read-only file system; choose another " \
                  r"file with log=FILE, or log=stderr"
        self.assert_refused(self.run_program(self.mounts(), "log=/var/tmp/a.log"), refusal)

    def test_agent_that_waits_for_a_start(self):
        run = execute([*self.mounts(), *self.java_command("serve")])
        self.assertEqual((run.exit, run.out), (self.plain.exit, self.plain.out), run)
        self.assert_lines(run, [NO_SOCKET])


class Restricted(Case):
    """As a pod of Kubernetes' profile "restricted", and more: all at once."""

    def test_all_at_once(self):
        mounts = in_mounts(READ_ONLY + "\nmount -t proc -o hidepid=2 proc /proc\nmount --bind /dev/null /proc/kallsyms",
                           self.volume)
        calls = "perf_event_open,process_vm_readv,memfd_create,membarrier,rseq,pidfd_open,openat2,statx"
        prefix = [*mounts, sys.executable, WITHOUT_SYSCALL, calls, 1, *as_alone(USER), "--bounding-set", "-all"]
        self.assert_recorded(self.run_program(prefix), NO_SOCKET)


class NoTmp(Case):
    def test_empty_and_read_only(self):
        prefix = in_mounts("mount -t tmpfs -o ro none /tmp")
        self.assert_recorded(self.run_program(prefix), NO_SOCKET)

    def test_missing(self):
        root = self.volume / "root"
        root.mkdir()
        self.assert_recorded(self.run_program(in_mounts(WITHOUT_TMP, root)), NO_SOCKET)

    def test_tmpdir_changes_nothing(self):
        """HotSpot and jcmd use /tmp whatever TMPDIR is, and so does jtrace."""
        elsewhere = ["env", f"TMPDIR={self.volume}"]
        self.assert_recorded(self.run_program([*in_mounts("mount -t tmpfs -o ro none /tmp"), *elsewhere]), NO_SOCKET)
        self.assert_recorded(self.run_program(elsewhere))


class UserWithoutName(Case):
    HIDDEN = "mount -t proc -o hidepid=2 proc /proc"

    def test_records(self):
        self.assert_recorded(self.run_program(AS_USER))
        self.assertEqual(os.stat(self.trace).st_uid, USER)

    def test_records_with_hidden_processes(self):
        for options in ("mode=merged", "timer=wall", "record=log,clock=tsc"):
            with self.subTest(options):
                self.assert_recorded(self.run_program([*in_mounts(self.HIDDEN), *as_alone(USER)], options))

    def test_trace_in_a_folder_of_others(self):
        self.volume.chmod(0o755)
        refusal = r"jtrace: cannot write '\S+': Permission denied; choose another file with out=FILE"
        self.assert_refused(self.run_program(AS_USER), refusal)

    def test_perf_events_that_the_kernel_forbids(self):
        run = self.run_program(AS_USER, "timer=perf:cpu-clock")
        if run.exit == self.plain.exit:
            self.skipTest("not verified: this kernel gives perf events to every user")
        self.assert_refused(run, r"jtrace: perf:cpu-clock is not available here: .*")


class FullDisk(Case):
    """A disk without room, or without inodes: with keep= the oldest files of loop= make room. The program runs on."""

    @contextlib.contextmanager
    def recording(self, size, keep):
        disk = self.volume / "disk"
        disk.mkdir()
        options = f"mode=events,include=Contained::fib,loop=1h,{keep}out={disk}/%n.bin"
        with self.container([], options, mounts=f"mount -t tmpfs -o {size} none {disk}", pids=False) as pid:
            yield pid, Path(f"/proc/{pid}/root{disk}")

    def end_files(self, pid, count):
        for _ in range(count):
            self.assert_answer(self.jtrace("dump", pid), r"/\d+\.bin\n")

    @staticmethod
    def fill(disk):
        with contextlib.suppress(OSError), open(disk / "filler", "wb", buffering=0) as filler:
            while True:
                filler.write(b"x" * 4096)

    @staticmethod
    def traces(disk):
        return sorted(int(file.stem) for file in disk.glob("*.bin"))

    def test_without_room(self):
        with self.recording("size=4m", "keep=1GB,") as (pid, disk):
            self.end_files(pid, 5)
            self.assertEqual(self.traces(disk), [1, 2, 3, 4, 5, 6])
            self.fill(disk)
            self.end_files(pid, 1)
            kept = self.traces(disk)
            self.assertEqual(kept, list(range(kept[0], 8)))
            self.assertGreater(kept[0], 1)
            self.assert_answer(self.jtrace("status", pid), r"loss +\d+ old files of loop= removed before keep= says so")
            (disk / "filler").unlink()
            self.end_files(pid, 1)
            self.assertRegex(self.summary(disk / "7.bin"), "because the disk is full or nearly")

    def test_without_inodes(self):
        with self.recording("nr_inodes=10", "keep=1GB,") as (pid, disk):
            self.end_files(pid, 15)
            kept = self.traces(disk)
            self.assertEqual(kept, list(range(kept[0], 17)))
            self.assertGreater(kept[0], 1)

    def test_without_keep(self):
        with self.recording("size=4m", "") as (pid, disk):
            self.end_files(pid, 2)
            self.fill(disk)
            self.assert_one_line(self.jtrace("dump", pid), r"jtrace: cannot write '.*': No space left on device")
            self.assertEqual(self.traces(disk)[:3], [1, 2, 3])
