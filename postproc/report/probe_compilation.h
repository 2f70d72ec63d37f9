// How much of the JIT compiler's time the probes cost: an estimate.
#pragma once

#include <cstdint>

#include "postproc/report/report.h"

namespace jtrace::postproc {

// Of the measure in the threads of C1 and of C2, the share that the probes have in the bytecode
// that the compiler compiled, each inlined copy counted: jtrace's own methods, and what calls them
// in methods in scope. The time of a compilation is taken to grow with its bytecode; code inlined
// without debug information is not seen. 0: no code of probes was compiled, or it is not recorded.
int64_t EstimatedProbeCompilation(const ReportInput& input);

}  // namespace jtrace::postproc
