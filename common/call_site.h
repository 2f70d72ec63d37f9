// A call site of a method: a line or, in code without line numbers, a bytecode index. Calls of one
// line have one site, as in stack traces: so the sites of different builds of a class, and of its
// samples, are comparable.
#pragma once

#include <cstdint>

namespace jtrace {

// As in traces (proto/FORMAT.md).
using CallSite = uint32_t;

inline constexpr CallSite kNoCallSite = 0;
// Line numbers begin with 1.
inline constexpr CallSite CallSiteOfLine(uint32_t line) { return line << 1; }
inline constexpr CallSite CallSiteOfBci(uint32_t bci) { return bci << 1 | 1; }
inline constexpr bool IsLine(CallSite site) { return (site & 1) == 0 && site != kNoCallSite; }
// Class files have 16 bits for either (JVMS 4.7.3, 4.7.12).
inline constexpr uint32_t kMaxInCallSite = 65'535;
// The line, or the bytecode index.
inline constexpr uint32_t NumberInCallSite(CallSite site) { return site >> 1; }
// A call site as read from a file: unknown if it is not one.
inline constexpr CallSite CheckedCallSite(uint32_t value) {
  return NumberInCallSite(value) <= kMaxInCallSite ? value : kNoCallSite;
}

}  // namespace jtrace
