// Ids of routines, as probes push them and tree nodes hold them, some with a call site above.
#pragma once

#include <cstdint>

namespace jtrace::signal_safe {

// Routine ids (pushed by rewritten methods) are 1 … kMaxRoutines - 2.
inline constexpr uint32_t kMaxRoutines = 1u << 25;
// The routine of nodes that count calls without their own node.
inline constexpr uint32_t kPrunedRoutine = kMaxRoutines - 1;

// sites=on: Node::routine has a call site above the id: `1 << 31 | number << kCallSiteShift | id`.
// The number is one of those of the caller's routine (agent/calls/classfile/call_site_finder.h), 0
// if that has too many. Ids from kCallSiteIds on have none.
inline constexpr int kCallSiteShift = 20;
inline constexpr uint32_t kCallSiteIds = 1u << kCallSiteShift;
inline constexpr uint32_t kHasCallSite = 1u << (31 - kCallSiteShift);
// Numbers are 1 … kMaxCallSites: no child's routine has all bits set.
inline constexpr uint32_t kMaxCallSites = kHasCallSite - 2;
// In an id that a probe pushes: the JVM itself may have made the call, which has no call site.
inline constexpr uint32_t kWithoutCallSite = 1u << 30;
inline constexpr uint32_t IdOf(uint32_t routine) {
  return routine >> 31 != 0 ? routine & (kCallSiteIds - 1) : routine;
}
// The number of the call site; 0: none.
inline constexpr uint32_t CallSiteNumberOf(uint32_t routine) {
  return routine >> 31 != 0 ? routine >> kCallSiteShift & (kHasCallSite - 1) : 0;
}

}  // namespace jtrace::signal_safe
