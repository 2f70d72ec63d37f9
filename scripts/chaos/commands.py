"""Faults that use the jtrace command: queries while a JVM records, recordings from outside."""
import json

from . import options
from .faults import AT_MOST, SIMPLE, Expected, Fault, FewDescriptors
from .process import run_tool

QUESTIONS = (("status",), ("dump",), ("metrics", "--format=json"), ("metrics", "--format=prometheus"),
             ("report", "--report=flat", "--top=20"), ("report", "--report=tree"), ("mark", "a mark"),
             ("hook",), ("hook", "libc.so.6!free:count"), ("hook", "libc.so.6!free:off"))
DONE, WRONG, REFUSED = 0, 1, 2
NOT_YET = "only permitted in the live phase"  # the JVM's own message while it starts or ends


def ask(run, verb, *words, may_refuse=False):
    """A command that fails is a finding, unless the JVM is ending."""
    command = [str(run.build.command), verb, str(run.jvm.pid), *words]
    code, out, err = run_tool(command, run.folder)
    run.note(f"{verb} {' '.join(words)}: {code} {err.strip()[:300]}")
    if code not in (DONE, REFUSED) and run.jvm.lives:
        run.find("command", f"jtrace {verb}: exit {code}: {err.strip()[:200]}")
    elif code == REFUSED and not may_refuse and NOT_YET not in err and run.jvm.pause(2):
        run.find("command", f"a running JVM refuses jtrace {verb}: {err.strip()[:200]}")
    if code == DONE and "--format=json" in words:
        try:
            json.loads(out)
        except ValueError as error:
            run.find("command", f"jtrace {verb}: not valid JSON: {error}")
    return code


class Questions(Fault):
    """Status, dump, report, metrics, marks and hooks in a random order while it records."""
    name = "questions"
    weight = 2
    needs_long = True

    def during(self, run):
        if not run.wait_for_socket():
            return
        while run.jvm.pause(self.numbers.uniform(0, 0.4)):
            question = self.numbers.choice(QUESTIONS)
            # Hooks need samples; a recording with duration= ends before the program.
            ask(run, *question, may_refuse=question[0] in ("hook", "dump", "report", "mark"))


class Windows(Fault):
    """Recordings started, queried, stopped and resumed while the program runs."""
    name = "windows"
    weight = 2
    needs_long = True
    expected = Expected(counts=AT_MOST)
    attaches = False

    def begin(self, run):
        return run.wait_for_socket()

    def during(self, run):
        recording = self.begin(run)
        number = 1
        while run.jvm.pause(self.numbers.uniform(0, 0.8)):
            if recording and self.numbers.random() < 0.5:
                ask(run, *self.numbers.choice(QUESTIONS), may_refuse=True)
            elif recording:
                recording = ask(run, "stop", may_refuse=True) != DONE
            else:
                number += 1
                way = options.random_way(self.numbers, run.program.scope)
                out = run.trace_folder / f"trace.{number}.bin"
                words = way.text(out=out).split(",")
                if not any(word.startswith("mode=") for word in words):
                    words.append("--probes")
                # It needs descriptors for the trace, the timers and the memory maps.
                may_refuse = run.beside.name == FewDescriptors.name
                recording = ask(run, "start", *words, may_refuse=may_refuse) == DONE


class Attaches(Windows):
    """The same with a JVM that was started without jtrace."""
    name = "attach"
    attaches = True

    def prepare(self, run):
        run.with_agent = False
        run.jvm_options.append("-XX:+EnableDynamicAgentLoading")

    def begin(self, run):
        run.wait_for_start()
        return False


FAULTS = {fault.name: fault for fault in SIMPLE + (Questions, Windows, Attaches)}
