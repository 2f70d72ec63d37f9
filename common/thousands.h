// Numbers with separators, for people. Pure; any thread, not in signal handlers.
#pragma once

#include <string>

#include "absl/strings/str_cat.h"

namespace jtrace {

// "-1,234,567" of -1234567. For signed and unsigned integers.
template <typename Integer>
std::string WithThousands(Integer value) {
  std::string digits = absl::StrCat(value);
  const size_t first = value < 0 ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

}  // namespace jtrace
