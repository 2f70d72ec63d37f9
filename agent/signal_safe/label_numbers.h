// The numbers of label sets (JTrace.label), from 1 on.
#pragma once

#include <cstdint>

namespace jtrace::signal_safe {

inline constexpr uint32_t kNoLabels = 0;
inline constexpr uint32_t kLastLabels = 10'000;
// Labels without a number, because there are too many sets.
inline constexpr uint32_t kUnknownLabels = 0xFFFF;

}  // namespace jtrace::signal_safe
