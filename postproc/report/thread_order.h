// The program's threads before the JVM's own: compilers, collectors, and the like.
#pragma once

#include <string_view>
#include <vector>

#include "postproc/report/report.h"

namespace jtrace::postproc {

// Which threads are the JVM's own or the agent's, by the names that HotSpot gives them.
enum class JvmThread { kNone, kJit, kCollector, kOther, kJtrace };
// Linux keeps 15 characters of a name.
JvmThread JvmThreadOf(std::string_view name);

// Whether the thread works for the JVM or for jtrace: the JVM says so, or it has one of their names
// and ran no method that events counted.
bool IsThreadOfJvm(const ReportInput& input, NodeId root);

// Moves the JVM's threads behind those of the program.
void PutProgramFirst(const ReportInput& input, std::vector<ThreadSummary>& threads);

}  // namespace jtrace::postproc
