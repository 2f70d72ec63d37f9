// Texts in URLs: "/opt/my%20server.jar".
#pragma once

#include <string>
#include <string_view>

namespace jtrace::postproc {

// The path for people: of %20 and its like the character. What is not such a code stays, and so do
// codes of control characters, which no list should have.
std::string DecodePercents(std::string_view path);
// As a value in a query: all but letters, digits, '.', '_', '-' and '~'.
std::string EncodePercents(std::string_view value);

}  // namespace jtrace::postproc
