// What the call graph's report (--report=graph) and picture for Graphviz (--report=dot) share.
#pragma once

#include <ostream>

#include "postproc/graph/call_graph.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

// The graph, and the filter that made it.
struct GraphOfReport {
  CallGraph graph;
  double filter_percent = 0;
};
// With --filter, or by default with the filter that leaves thirty functions.
GraphOfReport MakeCallGraph(const ReportInput& input);

// "30 of 1,857 routines, those with at least 1.3 % of 7.91 s; 1,827 are collapsed into their
// callers (3.1 %, 12,345 calls)"
std::string DescribeGraph(const ReportInput& input, const GraphOfReport& graph);

}  // namespace jtrace::postproc
