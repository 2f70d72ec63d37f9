// --report=html: one page that contains everything, for any browser, without a network.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

namespace jtrace::postproc {

// The page with that data (JSON).
void WritePage(std::string_view data, std::ostream& out);

// postproc/web/dist/page.html: the page without its data.
std::string_view PageTemplate();

// gzip (RFC 1952), at a level for speed rather than size.
std::string Gzipped(std::string_view bytes);
// RFC 4648, with padding, without line breaks.
std::string Base64(std::string_view bytes);

}  // namespace jtrace::postproc
