"""jtrace fleet compact: readers, kill -9 and conversions at any moment find each run once."""
import fcntl
import os
import pathlib
import random
import shutil
import signal
import subprocess
import threading
import time

from questions import MadeRuns

ROUTINES = [f"a.C{i}.run(int)" for i in range(40)]
RUNS = 60


def has_open(pid, name):
    for file in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            if os.path.samefile(file, name):
                return True
        except FileNotFoundError:
            pass  # a pipe, or closed meanwhile
    return False


class Compaction(MadeRuns):
    def setUp(self):
        super().setUp()
        self.wanted = {}

    def add(self, count, host="h", **options):
        """Runs with files of their own, as conversions beside running JVMs leave them."""
        for _ in range(count):
            calls = 1 + self.made
            routine = ROUTINES[self.made % len(ROUTINES)]
            self.convert([self.run_of(calls, ns=calls * 1000, ticks=2, tick_ns=1000, routine=routine, host=host,
                                      **options)])
            self.wanted[routine] = self.wanted.get(routine, 0) + calls

    def calls(self):
        return {row["routine"]: int(row["calls"]) for row in self.rows("flat")}

    def files(self, table):
        return sorted((self.data / table).rglob("*.parquet"))

    def compact(self, *options):
        return self.fleet("compact", *options)

    def command(self, *arguments):
        return [self.build / "bin/jtrace", "fleet", *arguments, f"--data={self.data}"]

    def test_files_of_past_days_become_one(self):
        self.add(5)
        self.add(3, host="i")
        before = {query: self.fleet(query, "--format=csv") for query in ("top", "tree", "arcs", "check", "percentiles")}
        self.assertIn("files of past days are ", self.compact())
        self.assertEqual(len(self.files("nodes")), 2)
        self.assertEqual(len(self.files("runs")), 2)
        for query, answer in before.items():
            self.assertEqual(self.fleet(query, "--format=csv"), answer, query)
        self.assertEqual(self.compact(), "no files of past days (UTC) to merge\n")
        # Later runs come beside it, and into it with the next call.
        self.add(1)
        self.assertEqual(self.calls(), self.wanted)
        self.compact("--host=h")
        self.assertEqual(len(self.files("arcs")), 2)
        self.assertEqual(self.calls(), self.wanted)

    def test_today_stays_as_it_is(self):
        self.add(3, start=int(time.time()) * 10**9)
        self.assertEqual(self.compact(), "no files of past days (UTC) to merge\n")
        self.assertEqual(len(self.files("nodes")), 3)

    def test_a_merged_run_is_not_converted_again(self):
        self.add(2)
        self.compact()
        again = subprocess.run([self.build / "bin/jtrace-post", "--report=parquet", "-o", self.data, "--no-files",
                                "--label=service=s", self.work / "1.jtxt"], text=True, stderr=subprocess.PIPE)
        self.assertEqual(again.returncode, 2)
        self.assertIn("1.jtxt: its run is in a merged file of ", again.stderr)
        self.assertEqual(self.calls(), self.wanted)

    def test_a_run_in_two_files_is_not_merged(self):
        self.add(2)
        self.convert([self.work / "1.jtxt", self.run_of(1)])
        self.assertIn("left as it is, 1 runs are in two files; jtrace fleet check", self.compact())
        self.assertEqual(len(self.files("nodes")), 3)

    def test_a_conversion_that_did_not_end_is_not_merged(self):
        self.add(2)
        before = set(self.files("runs"))
        self.add(1)
        (last,) = set(self.files("runs")) - before
        last.unlink()
        self.assertIn("left as it is, nodes has a run that is not in runs: its conversion did not end; convert it again",
                      self.compact())
        self.assertEqual(len(self.files("nodes")), 3)
        self.convert([self.work / "3.jtxt"])
        self.compact()
        self.assertEqual(len(self.files("nodes")), 1)
        self.assertEqual(self.calls(), self.wanted)

    def lock_of_the_place(self):
        (file,) = (self.data / "_compact").glob("place-*")
        lock = open(file)
        self.addCleanup(lock.close)
        return lock

    def test_a_conversion_that_writes_stops_it(self):
        self.add(2)
        fcntl.flock(self.lock_of_the_place(), fcntl.LOCK_SH)  # as the conversion has it
        self.add(1)  # beside it
        self.assertIn("left as it is, a conversion writes there", self.compact())
        self.assertEqual(len(self.files("nodes")), 3)

    def test_a_run_that_is_merged_before_it_is_written_again_is_not_written(self):
        self.add(2)
        lock = self.lock_of_the_place()
        fcntl.flock(lock, fcntl.LOCK_EX)
        again = subprocess.Popen([self.build / "bin/jtrace-post", "--report=parquet", "-o", self.data, "--no-files",
                                  "--label=service=s", self.work / "1.jtxt"], text=True, stderr=subprocess.PIPE)
        self.addCleanup(again.kill)
        while not has_open(again.pid, lock.name):  # it has read the trace then
            self.assertIsNone(again.poll())
        again.send_signal(signal.SIGSTOP)
        while pathlib.Path(f"/proc/{again.pid}/stat").read_text().split(") ")[1][0] != "T":
            pass
        fcntl.flock(lock, fcntl.LOCK_UN)
        self.compact()
        self.assertEqual(len(self.files("nodes")), 1)
        again.send_signal(signal.SIGCONT)
        _, error = again.communicate()
        self.assertEqual(again.returncode, 2)
        self.assertIn("1.jtxt: its run is in a merged file of ", error)
        self.assertEqual(len(self.files("nodes")), 1)
        self.assertEqual(self.calls(), self.wanted)

    def test_rows_of_a_run_in_two_files_are_found(self):
        """Also if `runs` has it once."""
        self.add(2)
        one = self.files("nodes")[0]
        shutil.copy(one, one.with_name("again.parquet"))
        broken = {row["holds"]: row["broken"] for row in self.rows("check")}
        self.assertEqual(broken["a run has a node once"], "2")  # the root and its only method

    def test_a_file_that_is_being_written_stops_it(self):
        self.add(2)
        (self.files("nodes")[0].parent / "x.parquet.7.part").write_text("")
        self.assertIn("left as it is, x.parquet.7.part is being written", self.compact())
        self.assertEqual(len(self.files("nodes")), 2)

    def test_what_is_not_of_jtrace_stays(self):
        self.add(2)
        (folder,) = {file.parent for file in self.files("runs")}
        for name in ("_hidden.parquet", "NOTES.txt"):
            (folder / name).write_text("mine")
            self.assertIn(f"left as it is, runs has {name}, which is not jtrace's; move it away", self.compact())
            self.assertEqual((folder / name).read_text(), "mine")
            (folder / name).unlink()
        self.assertEqual(len(self.files("nodes")), 2)
        self.compact()
        self.assertEqual(len(self.files("nodes")), 1)

    def read_until(self, stop, found):
        """All calls, again and again; or that a file was removed between its listing and its opening."""
        while not stop.is_set():
            done = subprocess.run(self.command("flat"), text=True, capture_output=True)
            rows = [line.split(",") for line in done.stdout.splitlines()[1:]]
            found.append(sum(int(row[-9]) for row in rows) if done.returncode == 0 else done.stderr)

    def test_killed_at_any_moment_nothing_is_lost_or_doubled(self):
        self.add(RUNS)
        moments = random.Random(1)
        killed, asked, removed = 0, 0, 0
        for _ in range(40):
            stop, found = threading.Event(), []
            reader = threading.Thread(target=self.read_until, args=(stop, found))
            reader.start()
            process = subprocess.Popen(self.command("compact"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            time.sleep(moments.uniform(0, 1))
            process.kill()
            _, error = process.communicate()
            stop.set()
            reader.join()
            killed += process.returncode != 0
            self.assertEqual(error, b"")
            self.assertEqual(self.calls(), self.wanted)
            for answer in found:
                if isinstance(answer, str):
                    self.assertRegex(answer, "No such file|No files found")
                    removed += 1
                else:
                    self.assertEqual(answer, sum(self.wanted.values()))
            asked += len(found)
            self.add(1)  # so that there is something to merge again
        self.assertGreater(killed, 5)
        self.compact()
        self.assertEqual(self.calls(), self.wanted)
        self.assertEqual(len(self.files("nodes")), 1)
        self.assertTrue(all(row["broken"] == "0" for row in self.rows("check")))
        print(f"\nkilled {killed} of 40; a reader asked {asked} times, and found a file removed {removed} times")
