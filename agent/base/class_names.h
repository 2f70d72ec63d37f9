// Names of classes as class files have them, for code that speaks Abseil's string_view.
//
// Pure, on any thread.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "absl/strings/string_view.h"

namespace jtrace {

inline absl::string_view Abseil(std::string_view text) { return {text.data(), text.size()}; }

// "java/lang/String" to "java.lang.String".
inline std::string DottedName(std::string_view internal_name) {
  std::string name(internal_name);
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

}  // namespace jtrace
