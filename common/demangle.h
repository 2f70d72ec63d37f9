// Names of C++ functions for people. Pure; any thread, not in signal handlers.
#pragma once

#include <string>
#include <string_view>

namespace jtrace {

// "a::f(int)" of "_ZN1a1fEi"; every other name as it is.
std::string Demangle(std::string_view symbol);

}  // namespace jtrace
