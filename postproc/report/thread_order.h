// The program's threads before the JVM's own: compilers, collectors, and the like.
#pragma once

#include <vector>

#include "postproc/report/report.h"

namespace jtrace::postproc {

// Whether the thread works for the JVM or for jtrace: the JVM says so, or it has one of their names
// and ran no method that events counted.
bool IsThreadOfJvm(const ReportInput& input, NodeId root);

// Moves the JVM's threads behind those of the program.
void PutProgramFirst(const ReportInput& input, std::vector<ThreadSummary>& threads);

}  // namespace jtrace::postproc
