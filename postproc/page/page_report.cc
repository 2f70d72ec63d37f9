#include "postproc/page/page_report.h"

#include "postproc/page/packed.h"
#include "postproc/page/page_data.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

void WritePage(std::string_view data, std::ostream& out) {
  constexpr std::string_view kMarker = "{{DATA}}";
  const std::string_view page = PageTemplate();
  const size_t marker = page.find(kMarker);
  out << page.substr(0, marker) << Base64(Gzipped(data)) << page.substr(marker + kMarker.size());
}

extern const Report kHtmlReport = {
    .name = "html",
    .group = ReportGroup::kTools,
    .summary = "one page with all pictures and tables, for a browser",
    .example = "jtrace-post --report=html -o report.html trace.bin",
    .accepts = kAcceptsRoot | kAcceptsThread | kAcceptsFold | kAcceptsScope | kAcceptsSites |
               kAcceptsSource | kAcceptsClasses,
    .instead = {{kAcceptsMetric, "the page has a menu of all measures"},
                {kAcceptsFilter, "the page has a filter"}},
    .document = [](const ReportInput& input,
                   std::ostream& out) { WritePage(PageData(input), out); },
};

}  // namespace jtrace::postproc
