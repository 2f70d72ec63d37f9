// Counts of lines by package, class and method, as tools for coverage have them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "postproc/lines/merged_lines.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

// Classes by name.
using CountedClasses = absl::btree_map<std::string, Methods>;
// Packages by name; "" is the default package.
using CountedPackages = absl::btree_map<std::string, CountedClasses>;

// The methods that --of selects.
CountedPackages PackagesOf(const ReportInput& input);
Methods MethodsOf(const CountedClasses& classes);

// The methods of a class, and those of its parts that are in the file of its methods. Not empty.
Methods OfOneFile(const Methods& methods);

// "run" of "run(int,Object)"
std::string_view PlainName(const MethodLines& method);
// Its descriptor; where that is not known its parameters as they are shown: "(int,Object)".
std::string_view SignatureOf(const MethodLines& method);
// Whether anything of it ran.
bool HasRun(const MethodLines& method);
// "com/acme" of "com.acme"
std::string AsFolder(std::string_view name);

}  // namespace jtrace::postproc
