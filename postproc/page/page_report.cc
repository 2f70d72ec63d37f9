#include "postproc/page/page_report.h"

#include "postproc/page/packed.h"
#include "postproc/page/page_data.h"

namespace jtrace::postproc {

void WritePage(std::string_view data, std::ostream& out) {
  constexpr std::string_view kMarker = "{{DATA}}";
  const std::string_view page = PageTemplate();
  const size_t marker = page.find(kMarker);
  out << page.substr(0, marker) << Base64(Gzipped(data)) << page.substr(marker + kMarker.size());
}

void PageDocument(const ReportInput& input, std::ostream& out) { WritePage(PageData(input), out); }

}  // namespace jtrace::postproc
