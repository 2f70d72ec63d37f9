// Threads, and other things of which there are many, by the form of their names. Pure.
#pragma once

#include <string>
#include <string_view>

namespace jtrace {

// "pool-3-thread-17" → "pool-*-thread-*": threads with the same pattern do the same work.
inline std::string NamePattern(std::string_view name) {
  std::string pattern;
  for (const char c : name) {
    if (c < '0' || c > '9') {
      pattern += c;
    } else if (pattern.empty() || pattern.back() != '*') {
      pattern += '*';
    }
  }
  return pattern;
}

}  // namespace jtrace
