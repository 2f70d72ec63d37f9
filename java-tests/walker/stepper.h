// Walks the publishing thread's stack at each instruction that it executes in generated code: a
// sample at every place, where a timer meets a window of two instructions once in many runs.
#ifndef JTRACE_JAVA_TESTS_WALKER_STEPPER_H_
#define JTRACE_JAVA_TESTS_WALKER_STEPPER_H_

#include <cstdint>
#include <cstdio>

#include "java-tests/walker/path_checker.h"

namespace jtrace::walker_test {

// Takes SIGTRAP. At most `budget` instructions are stepped through, those of native code counted:
// each costs a signal. The paths must be registered before the first of them.
void EnableStepping(PathChecker* paths, uint64_t budget);

// The calling thread, the publishing one, is stepped through what follows, for a while. Nothing
// happens if stepping is not enabled or the budget is spent.
void StepOn();

// Whether, of what was stepped through, every chain reached the root without a guess and fitted its
// path. True if stepping is not enabled.
bool SteppedRight();
// What was stepped through, and the first chains that were wrong. `print_frames` prints one chain.
void PrintSteps(FILE* out, void (*print_frames)(FILE*, const hot::Frame*, uint32_t));

}  // namespace jtrace::walker_test

#endif  // JTRACE_JAVA_TESTS_WALKER_STEPPER_H_
