#!/usr/bin/env python3
"""Stalls all other programs on each processor for 30 to 600 ms, again and again.

A busy host, a hypervisor or a container's quota does so in production: threads stop at any
instruction, timers fire late, and the order of events changes. Tests that pass meanwhile do not
depend on speed. Runs until it is killed; needs real-time priority.
--check: only reports, by the exit code, whether it may run.
"""
import argparse
import os
import random
import sys
import time

STALL_S = (0.030, 0.600)
GAP_S = (0.2, 2.0)


def become_urgent(processor):
    os.sched_setaffinity(0, {processor})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


def stall_for_ever(processor, parent):
    become_urgent(processor)
    numbers = random.Random(processor)
    while os.getppid() == parent:
        time.sleep(numbers.uniform(*GAP_S))
        end = time.monotonic() + numbers.uniform(*STALL_S)
        while time.monotonic() < end:
            pass


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    processors = sorted(os.sched_getaffinity(0))
    if arguments.check:
        try:
            become_urgent(processors[0])
        except PermissionError:
            return 1
        return 0
    starter = os.getppid()
    parent = os.getpid()
    for processor in processors:
        if os.fork() == 0:
            stall_for_ever(processor, parent)
            return 0
    print(f"stalling {len(processors)} processors for {STALL_S[0] * 1000:.0f} to {STALL_S[1] * 1000:.0f} ms",
          flush=True)
    # If the tests are killed, this must not go on stalling processors.
    while os.getppid() == starter:
        if os.waitpid(-1, os.WNOHANG) != (0, 0):
            print("stall: one of the processors is no longer stalled", file=sys.stderr)
            return 1
        time.sleep(0.5)
    return 0


if __name__ == "__main__":
    sys.exit(main())
