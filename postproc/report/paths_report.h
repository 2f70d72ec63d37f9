// Texts of the reports on sampled paths that contain more than their tables.
#pragma once

#include <ostream>

#include "postproc/report/report.h"

namespace jtrace::postproc {

void CalleesText(const ReportInput& input, std::ostream& out);
void CallersText(const ReportInput& input, std::ostream& out);

}  // namespace jtrace::postproc
