// Nouns with their numbers, for people. Pure; any thread, not in signal handlers.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "common/thousands.h"

namespace jtrace {

// "1 class", "1,234 classes"; without `plural` it is the noun and an s.
template <std::integral Integer>
std::string WithNoun(Integer count, std::string_view noun, std::string_view plural = "") {
  std::string text = WithThousands(count).append(" ");
  if (count != 1 && !plural.empty()) return text.append(plural);
  return text.append(noun).append(count == 1 ? "" : "s");
}

// "1 chunk missing" of "chunks missing": a text that begins with the counted things in the plural.
std::string InSingular(std::string_view what);

// The number before such a text.
template <std::integral Integer>
std::string WithText(Integer count, std::string_view what) {
  return WithThousands(count).append(" ").append(count == 1 ? InSingular(what) : std::string(what));
}

}  // namespace jtrace
