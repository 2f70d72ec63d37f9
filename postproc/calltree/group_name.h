// The group of a thread: threads whose names differ in numbers only do the same work. Pure.
#pragma once

#include <string>
#include <string_view>

#include "common/name_pattern.h"

namespace jtrace::postproc {

// Readers number threads of equal names: "worker", "worker#2".
inline std::string GroupName(std::string_view name) {
  constexpr std::string_view kNumbered = "#*";
  std::string pattern = NamePattern(name);
  if (pattern.ends_with(kNumbered)) pattern.resize(pattern.size() - kNumbered.size());
  return pattern;
}

}  // namespace jtrace::postproc
