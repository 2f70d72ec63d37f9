// Walks the publishing thread's stack at each instruction that it executes in generated code: a
// sample at every place, where a timer meets a window of two instructions once in many runs.
#pragma once

#include <cstdint>
#include <cstdio>

#include "java-tests/walker/path_checker.h"

namespace jtrace::walker_test {

// Takes SIGTRAP. At most `budget` instructions are stepped through, including those of native code:
// each costs a signal. The paths must be registered before the first of them.
void EnableStepping(PathChecker* paths, uint64_t budget);

// Steps the calling thread, the publishing one, through the following code for a while. Does
// nothing if stepping is not enabled or the budget is spent.
void StepOn();

// Whether every chain of the stepped code reached the root without a guess and fitted its path.
// True if stepping is not enabled.
bool SteppedRight();
// The statistics of the stepped code, and the first wrong chains. `print_frames` prints one chain.
void PrintSteps(FILE* out, void (*print_frames)(FILE*, const samples::Frame*, uint32_t));

}  // namespace jtrace::walker_test
