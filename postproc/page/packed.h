// Bytes as text that a page can contain.
#pragma once

#include <string>
#include <string_view>

namespace jtrace::postproc {

// gzip (RFC 1952), at a level for speed rather than size.
std::string Gzipped(std::string_view bytes);
// RFC 4648, with padding, without line breaks.
std::string Base64(std::string_view bytes);

}  // namespace jtrace::postproc
