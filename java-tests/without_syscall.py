#!/usr/bin/env python3
"""Runs a command with system calls that fail: without_syscall.py CALL[,CALL…] ERRNO COMMAND…

CALL is a number of x86-64 or a name of CALLS. The calls fail as in a container whose seccomp profile forbids them, or
on a file system without them.
"""
import ctypes
import os
import struct
import sys

PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 22, 38
SECCOMP_MODE_FILTER = 2
SECCOMP_RET_ERRNO, SECCOMP_RET_ALLOW = 0x00050000, 0x7FFF0000
BPF_LOAD_WORD, BPF_JUMP_EQUAL, BPF_RETURN = 0x20, 0x15, 0x06
CALLS = {"timer_create": 222, "openat2": 437, "perf_event_open": 298, "rt_tgsigqueueinfo": 297, "process_vm_readv": 310,
         "memfd_create": 319, "membarrier": 324, "statx": 332, "rseq": 334, "pidfd_open": 434, "flock": 73}


def main():
    numbers = [CALLS[call] if call in CALLS else int(call) for call in sys.argv[1].split(",")]
    error = int(sys.argv[2])
    instructions = [(BPF_LOAD_WORD, 0, 0, 0)]  # the call's number
    for number in numbers:
        instructions += [(BPF_JUMP_EQUAL, 0, 1, number), (BPF_RETURN, 0, 0, SECCOMP_RET_ERRNO | error)]
    instructions.append((BPF_RETURN, 0, 0, SECCOMP_RET_ALLOW))
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *it) for it in instructions))
    program = ctypes.create_string_buffer(
        struct.pack("HxxxxxxP", len(instructions), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    address = ctypes.c_void_p(ctypes.addressof(program))
    if (libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
            or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, address, 0, 0) != 0):
        sys.exit("no seccomp here: " + os.strerror(ctypes.get_errno()))
    os.execvp(sys.argv[3], sys.argv[3:])


main()
