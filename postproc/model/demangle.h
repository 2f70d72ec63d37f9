// Names of native functions as people write them.
#pragma once

#include <string>
#include <string_view>

namespace jtrace::postproc {

// C++ (Itanium ABI) and Rust (v0, and the older form without its hash); others as they are.
std::string Demangle(std::string_view name);

}  // namespace jtrace::postproc
