// The columns of CSV reports that the naive implementation can fill.
#pragma once

#include "native-tests/support/csv.h"

namespace jtrace::testing {

inline const CsvRow kTree = {"thread", "level",   "rl",           "calls",     "base",
                             "cum",    "elapsed", "base_ticks",   "cum_ticks", "samples",
                             "origin", "name",    "calls_jitted", "min_base",  "max_base"};
inline const CsvRow kFlat = {"calls",        "base",      "cum",        "cum2",    "elapsed",
                             "base_ticks",   "cum_ticks", "cum2_ticks", "samples", "name",
                             "calls_jitted", "min_base",  "max_base"};
inline const CsvRow kArcs = {"self", "row",        "calls",     "base",       "cum",
                             "cum2", "base_ticks", "cum_ticks", "cum2_ticks", "name"};
inline const CsvRow kPaths = {"path", "inclusive", "inclusive_pct", "exclusive", "exclusive_pct"};
inline const CsvRow kHooks = {"hook",  "kind",  "thread",   "java",   "native",
                              "calls", "timed", "total_ns", "min_ns", "max_ns"};

}  // namespace jtrace::testing
