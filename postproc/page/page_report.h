// --report=html: one page that contains everything, for any browser, without a network.
#pragma once

#include <ostream>
#include <string_view>

namespace jtrace::postproc {

// The page with that data (JSON).
void WritePage(std::string_view data, std::ostream& out);

// postproc/web/dist/page.html: the page without its data.
std::string_view PageTemplate();

}  // namespace jtrace::postproc
