// The call tree in the order in which reports show it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "postproc/report/report.h"

namespace jtrace::postproc {

// Siblings by cum of the measure if --metric chose it, then cum, cum_ticks and calls descending,
// then name; with `sort`, by that column: "first" for the order of appearance, "name" ascending,
// any other descending; "self" and "total" are the measure's. Roots are always in the order of
// appearance (FORMATS §4).
class TreeView {
 public:
  TreeView(const ReportInput& input, std::string_view sort);

  std::vector<NodeId> SortedChildren(NodeId parent) const;
  // Passes on all nodes, depth first, as long as `visit` returns true; with `shown`, by node, only
  // those: their parents are shown, too.
  void Walk(const std::vector<bool>* shown, absl::FunctionRef<bool(NodeId)> visit) const;
  std::string_view Name(NodeId id) const;
  // "app.A.run():120", the place in the caller that the node's calls are from; "": unknown.
  std::string Site(NodeId id) const;
  // The name, after the site if that is known: "app.A.run():120 > app.B.work()".
  std::string NameWithSite(NodeId id) const;

  // What --top ranks nodes by: the column that --sort names, else the measure without callees.
  int64_t Weight(NodeId id) const;

  enum class SortBy : uint8_t { kColumn, kMeasureBase, kMeasureCum };

 private:
  void Sort(std::vector<NodeId>& children) const;
  bool Before(NodeId a, NodeId b) const;
  int64_t Key(NodeId id) const;

  const ReportInput& input_;
  const std::string_view sort_;
  const SortBy sort_by_;
};

// The columns that trees can be sorted by, and what text calls them; `metric` is the value of
// --metric.
std::vector<std::string> TreeColumns(std::string_view metric);

}  // namespace jtrace::postproc
