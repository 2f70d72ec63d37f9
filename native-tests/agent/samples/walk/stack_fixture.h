// Native stacks to walk: recursion of many shapes, interrupted at any instruction.
#pragma once

#include <signal.h>

#include <functional>

namespace jtrace::samples {

// Recursion through plain calls, variable-sized frames, a library's callback and string code.
// Returns a number that depends on everything, so that nothing is optimised away.
long Recurse(int depth, long seed);

// Runs `body` until it returns false, with SIGPROF delivered to `handler` each 500 µs of CPU time.
void Interrupted(void (*handler)(int, siginfo_t*, void*), const std::function<bool()>& body);

}  // namespace jtrace::samples
