// What jtrace-post ends with.
#pragma once

#include <cstdlib>

namespace jtrace::postproc {

inline constexpr int kExitDone = 0;
inline constexpr int kExitUsage = 1;
inline constexpr int kExitInputOutput = 2;
inline constexpr int kExitRule = 3;  // a --fail-on rule is broken
// `jtrace ship` sets this variable for jtrace-post.
inline constexpr char kRunByShip[] = "JTRACE_SHIP";
inline bool IsRunByShip() { return std::getenv(kRunByShip) != nullptr; }
// In place of kExitInputOutput, for `jtrace ship`.
inline constexpr int kExitOutput = 4;
inline constexpr int kExitMemory = 5;  // the machine's, not what a trace may take

}  // namespace jtrace::postproc
