// Parses C++ names as demanglers print them and as people copy them from reports. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace jtrace::native_hooks {

// How ( ) and < > nest in a name. The < or > of an operator's name (operator<, operator->) or of a
// comparison is not a bracket.
struct Nesting {
  std::vector<uint32_t> depths;                  // by character; brackets have their inner depth
  std::vector<std::pair<size_t, size_t>> outer;  // positions of outermost ( and their )
  bool is_balanced = true;
};
Nesting NestingOf(absl::string_view text);

// Returns a function's name up to its parameters: "a::f" for "a::f(int) const". Parameters of an
// enclosing function stay: "f(int)::{lambda(long)#1}::operator()".
absl::string_view WithoutParameters(absl::string_view name);

// Returns the name with ">>" for "> >", as reports print it.
std::string Normalized(absl::string_view name);

// Returns a word of a demangled name, or of a part of one, that the mangled name contains
// unchanged; "": that is certain of no word.
absl::string_view WordOfMangled(absl::string_view name);

}  // namespace jtrace::native_hooks
