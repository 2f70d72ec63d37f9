// What jtrace-post ends with.
#pragma once

namespace jtrace::postproc {

inline constexpr int kExitDone = 0;
inline constexpr int kExitUsage = 1;
inline constexpr int kExitInputOutput = 2;
inline constexpr int kExitRule = 3;  // a --fail-on rule is broken
// In place of kExitInputOutput, for `jtrace ship`, which sets this variable.
inline constexpr char kExitsByKind[] = "JTRACE_EXITS_BY_KIND";
inline constexpr int kExitOutput = 4;
inline constexpr int kExitMemory = 5;  // the machine's, not what a trace may take

}  // namespace jtrace::postproc
