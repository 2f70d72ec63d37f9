// The native half of PathCheck.java: the path that it publishes, and its way through qsort.
#pragma once

#include <cstdint>

#include "agent/signal_safe/position.h"
#include "java-tests/walker/path_checker.h"

namespace jtrace::walker_test {

// The agent's; null if the library was loaded for its native methods only.
PathChecker* Paths();
// Checks the chains that are walked step by step: on the publishing thread, not the drainer's.
PathChecker* SteppedPaths();

// The sampler's PositionReader: node is the published path.
signal_safe::Position ReadPublishedPath(uint64_t java_tid);

}  // namespace jtrace::walker_test
