// The place in a method from which it calls: a line or, in code without line numbers, a bytecode
// index. Calls of one line are from one place, as in stack traces: so places of different builds of
// a class, and of its samples, are comparable.
#pragma once

#include <cstdint>

namespace jtrace {

// As in traces (proto/FORMAT.md).
using CallPlace = uint32_t;

inline constexpr CallPlace kNoCallPlace = 0;
// Line numbers begin with 1.
inline constexpr CallPlace PlaceOfLine(uint32_t line) { return line << 1; }
inline constexpr CallPlace PlaceOfBci(uint32_t bci) { return bci << 1 | 1; }
inline constexpr bool IsLine(CallPlace place) { return (place & 1) == 0 && place != kNoCallPlace; }
// Class files have 16 bits for either (JVMS 4.7.3, 4.7.12).
inline constexpr uint32_t kMostInPlace = 65'535;
// The line, or the bytecode index.
inline constexpr uint32_t NumberInPlace(CallPlace place) { return place >> 1; }
// A place as read from a file: unknown if it is not one.
inline constexpr CallPlace CheckedPlace(uint32_t value) {
  return NumberInPlace(value) <= kMostInPlace ? value : kNoCallPlace;
}

}  // namespace jtrace
