// The single options in a text of several, "mode=merged,out=x". Pure.
#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"

namespace jtrace {

// Split at ','; empty ones are left out. In the value of hook= one that stands in the brackets of a
// function's name, f(int, long), is no end, unless an option that `is_option` knows and a '=' come
// behind it. A bracket that nothing closes holds nothing together.
std::vector<absl::string_view> SplitOptions(
    absl::string_view text, absl::FunctionRef<bool(absl::string_view name)> is_option);

}  // namespace jtrace
