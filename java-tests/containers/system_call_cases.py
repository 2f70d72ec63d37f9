"""System calls that a seccomp profile forbids, with the error of Docker's profile or of an old kernel."""
import sys

from container import EXIT, WITHOUT_SYSCALL, Case, execute

EPERM, ENOSYS = 1, 38
NO_TIMERS = r"jtrace: no samples: the system forbids timers \(timer_create: .*\); let the container's seccomp " \
            r"profile allow timer_create, or timer=wall, or mode=events"
NO_PERF = r"jtrace: perf:cpu-clock is not available here: the system call is forbidden \(.*\); let the container's " \
          r"seccomp profile allow perf_event_open, or leave timer= out; available: none"
NO_SIGNALS = r"jtrace: timer that may not signal threads \(rt_tgsigqueueinfo: .*\): those that run have no samples; " \
             r"let the container's seccomp profile allow rt_tgsigqueueinfo, or timer=cpu"
OTHERS = "process_vm_readv,memfd_create,membarrier,rseq,pidfd_open,openat2,statx"


class Forbidden(Case):
    def setUp(self):
        super().setUp()
        trial = execute([sys.executable, WITHOUT_SYSCALL, "memfd_create", EPERM, "true"])
        if trial.exit != 0:
            self.skipTest("not verified: " + "\n".join(trial.err))

    def without(self, calls, error, options="mode=merged"):
        return self.run_program([sys.executable, WITHOUT_SYSCALL, calls, error], options)


class Smoke(Forbidden):
    def test_nothing_is_missing(self):
        self.assert_recorded(self.run_program([]))

    def test_perf_events(self):
        for error in (EPERM, ENOSYS):
            with self.subTest(error):
                summary = self.assert_recorded(self.without("perf_event_open", error))
                self.assertIn("let the container's seccomp profile allow perf_event_open", summary)

    def test_perf_events_that_were_requested(self):
        for error in (EPERM, ENOSYS):
            with self.subTest(error):
                self.assert_refused(self.without("perf_event_open", error, "timer=perf:cpu-clock"), NO_PERF)

    def test_both_kinds_of_timers(self):
        for error in (EPERM, ENOSYS):
            with self.subTest(error):
                run = self.without("perf_event_open,timer_create", error)
                self.assert_recorded(run, NO_TIMERS, samples=False)

    def test_events_need_no_timers(self):
        self.assert_recorded(self.without("perf_event_open,timer_create", EPERM, "mode=events"), samples=False)

    def test_the_wall_clock_needs_no_timers(self):
        self.assert_recorded(self.without("perf_event_open,timer_create", EPERM, "timer=wall"))

    def test_signals_of_the_wall_clock(self):
        for error in (EPERM, ENOSYS):
            with self.subTest(error):
                run = self.without("rt_tgsigqueueinfo", error, "timer=wall")
                self.assert_recorded(run, NO_SIGNALS, samples=None)

    def test_calls_of_the_machine(self):
        for error in (EPERM, ENOSYS):
            with self.subTest(error):
                self.assert_recorded(self.without(OTHERS, error))


class EachCall(Forbidden):
    """One call at a time, and hooks, which use some of them."""

    def test_hooks(self):
        for error in (EPERM, ENOSYS):
            with self.subTest(error):
                self.assert_recorded(self.without(OTHERS, error, "hook=libc.so.6!malloc:count"))

    def test_one_call(self):
        for call in OTHERS.split(","):
            for error in (EPERM, ENOSYS):
                with self.subTest(call=call, error=error):
                    self.assert_recorded(self.without(call, error))

    def test_posix_timers(self):
        """Where perf events are allowed they replace them, although they may be expensive here."""
        free = self.run_program([], "timer=perf:cpu-clock")
        run = self.without("timer_create", EPERM)
        if free.exit == EXIT:
            self.assert_recorded(run)
        else:
            self.assert_recorded(run, NO_TIMERS, samples=False)
