// Random traces for property tests: the same seed gives the same trace everywhere.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace jtrace::testing {

// The metrics that nodes of random traces have; values may be negative.
const std::vector<std::string>& RandomMetrics();

// A text trace with recursion, lost exits, off stretches, weights, reduced nodes, samples with and
// without event paths, empty and unmatched samples, unwinds, metrics; names with prefixes and
// modules.
std::string RandomTextTrace(uint64_t seed);

// The same trace where routines of paths and frames of samples have the place from which they call
// the next one.
std::string WithCallPlaces(const std::string& trace, uint64_t seed);

// A binary trace of several chunks: tree deltas, flat counts, logs, switches, samples of every
// frame kind, notices, threads with repeated, changed and empty names, virtual threads.
std::string RandomBinaryTrace(uint64_t seed);

}  // namespace jtrace::testing
