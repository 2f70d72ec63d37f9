// The methods of a line profile that --of names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "postproc/lines/line_profile.h"

namespace jtrace::postproc {

// Of one LineProfile, which outlives it, in its order.
using Methods = std::vector<const MethodLines*>;

// "pkg.Outer$Inner.run(int,Object)"
std::string FullName(const MethodLines& method);

// Whether `pattern` names the method. A pattern with `*` or `?` is a glob for the class or the full
// name, with or without parameters. Any other one is a whole part of the full name, which begins
// and ends at one of `. $ (`: "com.acme" a package, "Outer" or "acme.Outer$Inner" a class,
// "Outer.run" or "run(int,Object)" methods. "::" is the same as ".".
bool NamesMethod(std::string_view pattern, const MethodLines& method);

// All if `of` is empty.
Methods SelectMethods(const LineProfile& profile, std::string_view of);

}  // namespace jtrace::postproc
