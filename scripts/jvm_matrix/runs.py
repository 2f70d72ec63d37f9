"""One run of the matrix: plain, then with both agents; what both counted, and how whole the stacks are."""
import csv
import math
import pathlib
import re
import subprocess
import time

from chaos import counts

TIMEOUT_S = 420
# Stacks that may be incomplete, or disagree with the calls, of all stacks of a JVM.
MOST_WRONG = 0.0005
# Counts that depend on timing: caches that collections empty; classes that are made under races.
JITTER = ("org.h2.value.Value.cache(", "clojure.lang.DynamicClassLoader.", "org.eclipse.jdt.internal.compiler.lookup."
          "SplitPackageBinding.")
# How a JVM says that it does not have a flag.
REFUSED = re.compile(r"^(Unrecognized VM option.*|Error: .*(?:option|not supported|not available).*"
                     r"|Option \S+ not supported.*)$", re.M)


class NotPossible(Exception):
    """This JVM does not have what the run needs."""


def execute(kit, words, log):
    with open(log, "w", encoding="utf-8") as errors:
        # Inside of the root: nothing is left there when it ends. 124: the time is over.
        bounded = ["timeout", "-k", "5", TIMEOUT_S, *words]
        done = subprocess.run(kit.command(bounded), stdout=subprocess.PIPE, stderr=errors, check=False)
    if done.returncode in (124, 137):
        raise RuntimeError(f"no end within {TIMEOUT_S} s")
    return done.returncode, done.stdout.decode(errors="replace")


def steady(output):
    """Without times, which no two runs share."""
    return re.sub(r"\d+(\.\d+)? ?ms|\d+\.\d+|\(\d+ rows?, [^)]*\)", "N", output)


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1] if lines else ""


class Attempt:
    def __init__(self, kit, run, folder):
        self.kit, self.run = kit, run
        self.folder = folder
        # For the JVM: a folder of its own system.
        self.at = kit.inside / "run"
        self.out = kit.outside / "run"
        self.out.mkdir(exist_ok=True)
        for old in self.out.iterdir():
            old.unlink()
        self.scope, self.arguments = kit.program(run.program, short=run.compiler == "int")
        self.java = [f"{run.jvm.home}/bin/java", "-Xmx1g", *run.flags()]

    def log(self, name):
        return self.folder / f"{name}.log"

    def archive(self):
        """Flags that use an archive of the program's classes, made by a run before."""
        if self.run.objects != "archive":
            return []
        file = self.at / "classes.archive"
        agents = []
        making = [f"-XX:ArchiveClassesAtExit={file}"]
        use = [f"-XX:SharedArchiveFile={file}"]
        if self.run.jvm.major >= 25:
            making, use = [f"-XX:AOTCacheOutput={file}"], [f"-XX:AOTCache={file}"]
            agents = [f"-javaagent:{self.kit.inside}/counting.jar=write /dev/null"]
        _, output = execute(self.kit, [*self.java, *making, *agents, *self.arguments], self.log("archive"))
        if not (self.out / "classes.archive").exists():
            raise NotPossible("no archive was made: " + last_line(output + self.text("archive")))
        return use

    def text(self, name):
        return self.log(name).read_text(errors="replace")

    def plain(self):
        code, output = execute(self.kit, [*self.java, *self.arguments], self.log("plain"))
        text = self.text("plain") + output
        if code != 0 and REFUSED.search(text):
            raise NotPossible(REFUSED.search(text)[0][:100])
        return code, steady(output)

    def with_agents(self, flags):
        include = self.scope.replace("/", ".") + "**"
        agents = [f"-javaagent:{self.kit.inside}/counting.jar=on {self.scope}|out {self.at}/counts.txt",
                  f"-agentpath:{self.kit.inside}/jtrace/lib/libjtrace.so=mode=merged,include={include},"
                  f"out={self.at}/trace.bin"]
        code, output = execute(self.kit, [*self.java, *flags, *agents, *self.arguments], self.log("jtrace"))
        return code, steady(output)

    def jdk_calls(self):
        """The exit code and the output of JdkCalls, whose trace has calls of the JDK's own methods. The JVM verifies
        its own classes here."""
        words = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+BytecodeVerificationLocal",
                 f"-agentpath:{self.kit.inside}/jtrace/lib/libjtrace.so=mode=events,include=java.util.**,"
                 f"out={self.at}/jdk.bin", "-cp", f"{self.kit.inside}/classes", "JdkCalls"]
        return execute(self.kit, [*self.java, *words], self.log("jdk"))

    def report(self, name, trace="trace.bin"):
        post = self.kit.inside / "jtrace/bin/jtrace-post"
        code, output = execute(self.kit, [post, f"--report={name}", "--format=csv", self.at / trace], self.log(name))
        if code != 0:
            raise RuntimeError(last_line(self.text(name)))
        return output


def compare_counts(attempt):
    """How many methods were compared, their calls, and names whose counts differ."""
    theirs, _ = counts.other_counts(pathlib.Path(attempt.out / "counts.txt"))
    ours = counts.within(counts.of_flat(attempt.report("flat")), attempt.scope)
    names = [name for name in theirs.keys() | ours.keys() if not name.startswith(JITTER)]
    differing = sorted(name for name in names if theirs.get(name, 0) != ours.get(name, 0))
    return len(names), sum(theirs.get(name, 0) for name in names), differing


def differing_in_jdk(expected, ours):
    """In words, lines "EXPECT CALLS METHOD" that do not hold."""
    rows = [line.split(" ", 2) for line in expected.splitlines() if line.startswith("EXPECT ")]
    wrong = [f"{ours.get(name, 0)} calls of {name}, not {calls}" for _, calls, name in rows
             if ours.get(name, 0) != int(calls)]
    return wrong if rows else ["JdkCalls expects nothing"]


def check_jdk(attempt):
    code, output = attempt.jdk_calls()
    if code != 0:
        return [f"JdkCalls ends with {code}"]
    return differing_in_jdk(output, counts.of_flat(attempt.report("flat", "jdk.bin")))


def samples_of(attempt):
    rows = {row["key"]: row["value"] for row in csv.DictReader(attempt.report("summary").splitlines())}
    number = {key: int(rows[key]) for key in
              ("samples", "samples_whole", "samples_placed", "samples_without_events", "unmatched")}
    losses = sorted(key for key in rows if key.startswith("loss."))
    return rows.get("jvm", ""), number, losses


def faults_of(result, run):
    """What must not be, in words."""
    faults = []
    if result["exit_plain"] != 0:
        faults.append(f"the program itself ends with {result['exit_plain']}")
    elif result["exit"] != 0:
        faults.append(f"ended with {result['exit']}, but not without the agents")
    if not result["output_equal"]:
        faults.append("the output differs")
    if result["differing"]:
        faults.append(f"{result['differing']} methods differ: {', '.join(result['names'])}")
    if not result["calls"]:
        faults.append("nothing was counted")
    if not result["samples_placed"]:
        faults.append("no sample was placed")
    # One run has few samples: three standard deviations above the share are rarely chance.
    expected = result["samples"] * MOST_WRONG
    return faults + ([] if run.jvm.may_degrade else wrong_stacks([result], expected + 3 * math.sqrt(expected)))


def wrong_stacks(results, allowed):
    """In words, if more stacks than that are incomplete, or disagree with the calls."""
    def total(key):
        return sum(result[key] for result in results)
    incomplete = total("samples") - total("samples_whole")
    faults = []
    if incomplete > allowed:
        faults.append(f"{incomplete} of {total('samples')} stacks are incomplete")
    if total("unmatched") > allowed:
        faults.append(f"{total('unmatched')} of {total('samples')} stacks do not match the calls")
    return faults


def faults_of_jvm(results, may_degrade):
    """Of all runs of a JVM together."""
    done = [result for result in results if "calls" in result]
    if may_degrade or not done:
        return []
    return wrong_stacks(done, max(1, MOST_WRONG * sum(result["samples"] for result in done)))


def perform(kit, run, folder):
    """The result of a run, as JSON has it."""
    begin = time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    result = {"name": run.name, "jvm": run.jvm.name, "faults": []}
    try:
        attempt = Attempt(kit, run, folder)
        result["exit_plain"], plain = attempt.plain()
        result["exit"], output = attempt.with_agents(attempt.archive())
        result["output_equal"] = output == plain
        methods, calls, names = compare_counts(attempt)
        version, samples, losses = samples_of(attempt)
        result.update(samples, version=version, losses=losses, methods=methods, calls=calls, differing=len(names),
                      names=names[:5])
        result["faults"] = faults_of(result, run) + check_jdk(attempt)
    except NotPossible as reason:
        result["not_possible"] = str(reason)
    except (OSError, RuntimeError, KeyError) as error:
        result["faults"] = [f"{type(error).__name__}: {error}"[:200]]
    result["seconds"] = round(time.monotonic() - begin, 1)
    return result
