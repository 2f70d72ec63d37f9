// Names of C++ as demanglers print them and as people copy them from reports. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace jtrace::native_hooks {

// Which characters of a text stand in ( ) or < >. Of operators' names (operator<, operator->) and
// of comparisons none is a bracket.
struct Nesting {
  std::vector<uint32_t> depths;                  // by character; a bracket is inside of itself
  std::vector<std::pair<size_t, size_t>> outer;  // outermost ( and its )
  bool is_balanced = true;
};
Nesting NestingOf(absl::string_view text);

// A function's name up to its parameters: "a::f(int) const" is "a::f". Those in the name itself
// stay, "f(int)::{lambda(long)#1}::operator()".
absl::string_view WithoutParameters(absl::string_view name);

// "> >" written as ">>", as reports do.
std::string Normalized(absl::string_view name);

// A word of a demangled name, or of a part of it, that stands in the mangled one as it is; "": no
// word is certain to.
absl::string_view WordOfMangled(absl::string_view name);

}  // namespace jtrace::native_hooks
