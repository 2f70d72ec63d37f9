// The program's threads before the JVM's own: compilers, collectors, and the like.
#pragma once

#include <vector>

#include "postproc/report/report.h"

namespace jtrace::postproc {

// Whether the thread works for the JVM or for jtrace: the JVM says so, or it has one of their names
// and ran no method that events counted.
bool IsThreadOfJvm(const ReportInput& input, NodeId root);

// The report's threads, those of the program first.
std::vector<ThreadSummary> ProgramsThreadsFirst(const ReportInput& input);

}  // namespace jtrace::postproc
