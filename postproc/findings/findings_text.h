// Findings as text, for the headline and for their own report.
#pragma once

#include <ostream>
#include <string>

#include "postproc/findings/rules.h"

namespace jtrace::postproc {

// Three lines each: the share and the sentence, figures and suggestion, and where to look next.
void WriteFinding(const ReportInput& input, const Found& found, std::ostream& out);

// "jtrace-post --report=function '--of=shop.A.a(int)' trace.bin", for a shell.
std::string NextCommand(const ReportInput& input, const Finding& finding);

}  // namespace jtrace::postproc
