// The counts of hooks in native code, by the names that reports show.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "postproc/report/report.h"

namespace jtrace::postproc {

// A caller of a hooked function, and its counts.
struct HookCaller {
  std::string_view thread;  // empty: threads are not distinguished
  std::string_view java;    // the thread's routine; empty: at its root, or not known
  std::string native;       // "libjvm.so!os::malloc"; empty: unknown
  HookSums sums;
};

// All hooks of a function, or of a Java method, with the same kind.
struct HookTotal {
  std::string name;  // "libc.so.6!malloc"
  HookKind kind = HookKind::kCount;
  bool is_method = false;           // of Java, counted by probes
  std::string pattern;              // what the user requested; several are separated by ";"
  HookSums sums;                    // over all callers
  std::vector<HookCaller> callers;  // empty: never called
};

// Hooks, and the callers of each, by calls descending, then names.
std::vector<HookTotal> HookTotals(const ReportInput& input);
// Calls of all hooks together.
int64_t HookedCalls(const std::vector<HookTotal>& hooks);

}  // namespace jtrace::postproc
