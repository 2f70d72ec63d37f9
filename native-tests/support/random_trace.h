// Random traces for property tests: the same seed gives the same trace everywhere.
#pragma once

#include <cstdint>
#include <string>

namespace jtrace::testing {

// A text trace with recursion, lost exits, off stretches, weights, reduced nodes, samples with and
// without event paths, empty and unmatched samples, unwinds; names with prefixes and modules.
std::string RandomTextTrace(uint64_t seed);

// A binary trace of several chunks: tree deltas, flat counts, logs, switches, samples of every
// frame kind, notices, threads with repeated, changed and empty names, virtual threads.
std::string RandomBinaryTrace(uint64_t seed);

}  // namespace jtrace::testing
