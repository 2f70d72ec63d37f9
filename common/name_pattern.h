// Threads, and other things of which there are many, by the form of their names. Pure.
#pragma once

#include <string>
#include <string_view>

namespace jtrace {

// "pool-3-thread-17" → "pool-*-thread-*": threads with the same pattern do the same work. The JVM's
// "C1 CompilerThread0" and "C2 CompilerThread0" do not: a number at the end of a first word such as
// these, or "G1", is kept.
inline std::string NamePattern(std::string_view name) {
  const bool has_kind = name.size() > 2 && name[0] >= 'A' && name[0] <= 'Z' && name[1] >= '0' &&
                        name[1] <= '9' && name[2] == ' ';
  std::string pattern(name.substr(0, has_kind ? 2 : 0));
  for (const char c : name.substr(pattern.size())) {
    if (c < '0' || c > '9') {
      pattern += c;
    } else if (pattern.empty() || pattern.back() != '*') {
      pattern += '*';
    }
  }
  return pattern;
}

}  // namespace jtrace
