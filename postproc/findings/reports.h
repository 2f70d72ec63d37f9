// The reports of this folder.
#pragma once

#include <ostream>

#include "postproc/report/report.h"

namespace jtrace::postproc {

void HeadlineText(const ReportInput& input, std::ostream& out);

// The output without options: the headline, hottest tree, flat list, arc flow, and the summary's
// details.
void OverviewText(const ReportInput& input, std::ostream& out);

}  // namespace jtrace::postproc
