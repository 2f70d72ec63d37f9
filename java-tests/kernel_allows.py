#!/usr/bin/env python3
"""What the kernel allows here, found out without jtrace: kernel_allows.py WHAT

WHAT is an event such as cpu-clock; kernel-frames: cpu-clock with the kernel's call chain; switches: records of a
thread's switches; rseq: the kernel clears a thread's rseq_cs word when the thread leaves its processor.
Exit codes: 0 it does; 1 it does not, for the reason printed.
"""
import ctypes
import os
import platform
import struct
import sys
import time

HARDWARE, SOFTWARE = 0, 1
DUMMY = (SOFTWARE, 9)
EVENTS = {"cpu-clock": (SOFTWARE, 0), "page-faults": (SOFTWARE, 2), "context-switches": (SOFTWARE, 3),
          "cycles": (HARDWARE, 0)}
SAMPLE_TIME, SAMPLE_CALLCHAIN = 1 << 2, 1 << 5
DISABLED, EXCLUDE_KERNEL, EXCLUDE_HV, SAMPLE_ID_ALL, CONTEXT_SWITCH = 1, 1 << 5, 1 << 6, 1 << 18, 1 << 26
ATTRIBUTE_BYTES = 112  # perf_event_attr of Linux 4.1
PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}
ARCH_PRCTL, ARCH_GET_FS = 158, 0x1003
RSEQ_CS_OFFSET = 8

libc = ctypes.CDLL(None, use_errno=True)


def refusal_of_event(event, flags=0, sample_type=0):
    attributes = struct.pack("IIQQQQQ", event[0], ATTRIBUTE_BYTES, event[1], 1_000_000, sample_type, 0,
                             DISABLED | EXCLUDE_HV | flags)
    buffer = ctypes.create_string_buffer(attributes.ljust(ATTRIBUTE_BYTES, b"\0"), ATTRIBUTE_BYTES)
    descriptor = libc.syscall(PERF_EVENT_OPEN[platform.machine()], buffer, 0, -1, -1, 0)
    if descriptor < 0:
        return "perf_event_open: " + os.strerror(ctypes.get_errno())
    os.close(descriptor)
    return ""


def refusal_of_rseq():
    """A descriptor of a range without code: whenever the kernel looks at it, the thread is outside of the range."""
    try:
        size = ctypes.c_uint.in_dll(libc, "__rseq_size").value
        offset = ctypes.c_ssize_t.in_dll(libc, "__rseq_offset").value
    except ValueError:
        return "this C library does not register threads (glibc 2.35)"
    if size == 0 or platform.machine() != "x86_64":
        return "this C library registered no thread"
    thread = ctypes.c_uint64()
    libc.syscall(ARCH_PRCTL, ARCH_GET_FS, ctypes.byref(thread))
    word = ctypes.c_uint64.from_address(thread.value + offset + RSEQ_CS_OFFSET)
    memory = ctypes.create_string_buffer(128)
    descriptor = (ctypes.addressof(memory) + 31) & ~31
    # Version, flags, start, length, where a thread inside would go on: after the signature of the C library.
    ctypes.memmove(descriptor, struct.pack("IIQQQII", 0, 0, descriptor, 1, descriptor + 36, 0x53053053, 0), 40)
    for milliseconds in (1, 10, 100):
        word.value = descriptor
        time.sleep(milliseconds / 1000)
        cleared = word.value != descriptor
        word.value = 0
        if cleared:
            return ""
    return "this kernel does not clear rseq_cs at each switch"


def main():
    what = sys.argv[1]
    if what == "kernel-frames":
        refusal = refusal_of_event(EVENTS["cpu-clock"], 0, SAMPLE_CALLCHAIN)
    elif what == "switches":
        refusal = refusal_of_event(DUMMY, EXCLUDE_KERNEL | CONTEXT_SWITCH | SAMPLE_ID_ALL, SAMPLE_TIME)
    elif what == "rseq":
        refusal = refusal_of_rseq()
    else:
        refusal = refusal_of_event(EVENTS[what], 0 if what == "context-switches" else EXCLUDE_KERNEL)
    if refusal:
        sys.exit(f"not verified: {what}: {refusal}")


main()
