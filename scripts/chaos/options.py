"""Random options of the agent and of the JVM."""
import dataclasses

GCS = ("Serial", "Parallel", "G1", "Z")
MEMORIES = ("16m", "16m", "32m", "64m", "128m", "256m")
METRICS = ("alloc.bytes", "alloc.objects", "exceptions", "cpu.ns", "wall.ns", "switches", "page.faults",
           "io.read.bytes", "gc.ns", "monitor.wait.ns", "calls", "jit.ns", "live.bytes",
           "freed.objects")
HOOKS = ("libc.so.6!malloc:count", "libjvm.so!os::malloc:unwind", "libjvm.so!JVM_*:time",
         "libc.so.6!write:count", "libjvm.so!JVM_Clone:count")
CODES = ("+exception", "+interrupt", "+switch", "+prepare", "+monitor", "+park", "+waited", "-jit", "-class", "+alloc", "+each-alloc",
         "+lock", "-segment",
         "+method", "-0x51/0x2", "+0x61/0x2")
# For `{jdk}` in a program's scope: code of the JDK that runs virtual threads.
JDK_SCOPES = ("java.**", "java.**;jdk.internal.vm.**", "java.lang.VirtualThread*;jdk.internal.vm.Continuation*",
              "java.lang.VirtualThread::mount;java.lang.VirtualThread::unmount", "java.util.concurrent.**")
HEAP_MB = 384


@dataclasses.dataclass
class Way:
    """Options of the agent, as a dictionary in order."""
    options: dict

    def text(self, **more):
        return ",".join(f"{name}={value}" for name, value in {**self.options, **more}.items())

    @property
    def counts(self):
        return self.options["mode"] != "samples"

    @property
    def memory_mb(self):
        return int(self.options["memory"].rstrip("m"))

    @property
    def is_part(self):
        """It ends before the program does."""
        return "duration" in self.options or "samples" in self.options


def some(numbers, values, most):
    """Up to `most` of the values, in a random order."""
    return numbers.sample(values, numbers.randint(1, most))


def pick_record(numbers, options):
    options["record"] = numbers.choice(("tree", "tree", "tree", "flat", "log", "log"))
    if options["record"] != "flat":
        clock = numbers.choice(("none", "none", "none", "coarse", "tsc", "cpu"))
        if clock != "none":
            options["clock"] = clock
    if options["record"] == "log" and numbers.random() < 0.5:
        options["overflow"] = numbers.choice(("gap", "wait"))
        options["logbudget"] = numbers.choice(("1m", "4m", "16m"))
    if options["record"] == "tree" and numbers.random() < 0.15:
        options["maxdepth"] = str(numbers.choice((10, 50, 300)))
    if numbers.random() < 0.15:
        options["prune"] = numbers.choice(("0", "1", "20"))
    if numbers.random() < 0.15:
        options["boundary"] = numbers.choice(("on", "costs"))
    if options["record"] == "tree" and numbers.random() < 0.15:
        options["blocks"] = numbers.choice(("on", "paths"))
    if options["record"] == "tree" and options.get("blocks") != "paths" and numbers.random() < 0.15:
        options["sites"] = "on"


def pick_samples(numbers, options, often):
    timer = numbers.choice(("cpu", "cpu", "cpu", "wall", "perf:cpu-clock"))
    if timer != "cpu":
        options["timer"] = timer
    if often:
        options["interval"] = "1ms" if timer == "wall" else "100us"
    elif timer != "wall" and numbers.random() < 0.5:
        options["interval"] = numbers.choice(("100us", "200us", "500us", "3ms", "20ms"))
    if numbers.random() < 0.3:
        options["stack"] = numbers.choice(("app", "frame", "appframe", "pc"))
    if numbers.random() < 0.2:
        options["hook"] = ";".join(some(numbers, HOOKS, 2))
    if numbers.random() < 0.1:
        options["signal"] = str(numbers.choice((26, 23)))


def pick_metrics(numbers, options):
    chosen = some(numbers, METRICS, 3)
    if options["mode"] != "samples" and options.get("record") == "tree" and numbers.random() < 0.3:
        chosen.append("alloc.sites")
    options["metrics"] = ";".join(chosen)


def pick_codes(numbers, options):
    codes = some(numbers, CODES, 3)
    if {"alloc.objects", "live.bytes", "freed.objects"} & set(options.get("metrics", "").split(";")):
        codes = [code for code in codes if code not in ("+alloc", "+each-alloc")]
    if codes:
        options["codes"] = ";".join(codes)


def random_way(numbers, scope, often=False, single=False):
    """`often`: 10 kHz; `single`: one file, for the whole run."""
    if "{jdk}" in scope:
        scope = scope.replace("{jdk}", numbers.choice(JDK_SCOPES))
    options = {"include": scope, "mode": numbers.choice(("merged", "merged", "merged", "events", "samples"))}
    if often and options["mode"] == "events":
        options["mode"] = "merged"
    options["memory"] = numbers.choice(MEMORIES)
    if options["mode"] != "samples":
        pick_record(numbers, options)
    if options["mode"] != "events":
        pick_samples(numbers, options, often)
    if numbers.random() < 0.25:
        pick_metrics(numbers, options)
    if numbers.random() < 0.2:
        pick_codes(numbers, options)
    if not single and numbers.random() < 0.2:
        name, value = numbers.choice((("loop", "1s"), ("loop", "1MB"), ("duration", "1s")))
        if name == "duration" and options["mode"] != "events" and numbers.random() < 0.5:
            name, value = "samples", "500"
        options[name] = value
        if name == "loop":
            options["keep"] = "1000"  # never reached, but on a full disk
    return Way(options)


def random_jvm(numbers, jdk, heavy):
    """Options of the JVM that do not change the output."""
    chosen = [f"-Xmx{HEAP_MB}m"]
    if numbers.random() < 0.5:
        chosen.append(f"-XX:+Use{numbers.choice(GCS)}GC")
    compilers = ["-XX:TieredStopAtLevel=1", "-XX:TieredStopAtLevel=3", "-XX:-TieredCompilation",
                 "-XX:+StressLCM -XX:+StressGCM -XX:+StressIGVN", "-Xbatch"]
    if not heavy:
        compilers += ["-Xint", "-Xcomp"]
    if numbers.random() < 0.4:
        chosen += numbers.choice(compilers).split()
    if numbers.random() < 0.3:
        rest = ["-XX:-UseCompressedOops", "-XX:GuaranteedSafepointInterval=5", "-Xshare:off",
                "-XX:ObjectAlignmentInBytes=16", "-XX:+SafepointALot"]
        if jdk.major >= 24:
            rest.append("-XX:+UnlockExperimentalVMOptions -XX:+UseCompactObjectHeaders")
        chosen += numbers.choice(rest).split()
    return ["-XX:+UnlockDiagnosticVMOptions"] + chosen
