// Splits a text of several options, "mode=merged,out=x". Pure.
#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"

namespace jtrace {

// Splits at ','; leaves out empty options. In the value of hook=, a ',' within the brackets of a
// function's name, f(int, long), does not split, unless an option that `is_option` knows and a '='
// follow it. An unclosed bracket has no effect.
std::vector<absl::string_view> SplitOptions(
    absl::string_view text, absl::FunctionRef<bool(absl::string_view name)> is_option);

}  // namespace jtrace
