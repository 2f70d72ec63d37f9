// The kind of code of each routine, for the colours of pictures.
#pragma once

#include <vector>

#include "postproc/report/report.h"

namespace jtrace::postproc {

// A letter by routine (RoutineId.value): the most frequent kind of its sampled frames, J C I N V K;
// E for a method that only events saw, c and n for a call or native call out of the scope, x for an
// exception, p for a park or a monitor, m for a marker such as [unmatched].
std::vector<char> FrameKinds(const ReportInput& input);

}  // namespace jtrace::postproc
