// Native stacks to walk: recursion of many shapes, interrupted at any instruction.
#ifndef JTRACE_NATIVE_TESTS_AGENT_HOT_WALK_STACK_FIXTURE_H_
#define JTRACE_NATIVE_TESTS_AGENT_HOT_WALK_STACK_FIXTURE_H_

#include <signal.h>

#include <functional>

namespace jtrace::hot {

// Recursion through plain calls, variable-sized frames, a library's callback and string code.
// Returns a number that depends on everything, so that nothing is optimised away.
long Recurse(int depth, long seed);

// Runs `body` until it returns false, with SIGPROF delivered to `handler` each 500 µs of CPU time.
void Interrupted(void (*handler)(int, siginfo_t*, void*), const std::function<bool()>& body);

}  // namespace jtrace::hot

#endif  // JTRACE_NATIVE_TESTS_AGENT_HOT_WALK_STACK_FIXTURE_H_
