#include "postproc/page/page_report.h"

#include "postproc/page/packed.h"
#include "postproc/page/page_data.h"

namespace jtrace::postproc {

void PageDocument(const ReportInput& input, std::ostream& out) {
  constexpr std::string_view kMarker = "{{DATA}}";
  const std::string_view page = PageTemplate();
  const size_t marker = page.find(kMarker);
  out << page.substr(0, marker) << Base64(Gzipped(PageData(input)))
      << page.substr(marker + kMarker.size());
}

}  // namespace jtrace::postproc
