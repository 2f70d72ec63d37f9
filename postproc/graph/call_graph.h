// The call graph of what ran (S4.9): a node for each routine, an arc for each pair of caller and
// callee (with sites=on: for each place in the caller), made from the calling-context tree. So each
// arc has the real cost of its calls, not an average over the callee's callers (S4.3), and a
// collapsed routine's cost is added to its real caller.
//
// Values are of the source's measure. No I/O, no threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "postproc/calltree/call_tree.h"
#include "postproc/calltree/flat_profile.h"
#include "postproc/calltree/measure.h"
#include "postproc/report/arc_width.h"

namespace jtrace::postproc {

// All references outlive the graph.
struct GraphSource {
  const CallTree& tree;
  const TreeTotals& totals;
  const FlatProfile& flat;  // of that measure
  const Measure& measure;
};

// How an arc is part of a recursion.
enum class Recursion : uint8_t {
  kNone,
  kSelf,    // caller and callee are the same node
  kBack,    // the callee was active already, whenever the arc was taken
  kPartly,  // sometimes
};

// A routine, or the root above all threads.
struct GraphNode {
  static constexpr uint32_t kAllThreads = UINT32_MAX;
  uint32_t row = kAllThreads;  // of the FlatProfile
  int64_t calls = 0;
  int64_t self = 0;
  int64_t collapsed = 0;  // self of the routines collapsed into it
  int64_t total = 0;      // self and descendants, over outermost activations
  bool is_root() const { return row == kAllThreads; }
};

// The calls from one node to another, from one place of it.
struct GraphArc {
  uint32_t caller = 0;  // indexes of nodes
  uint32_t callee = 0;
  // In the caller: where it calls the callee, or the collapsed routines that do. None: not
  // distinguished, or unknown.
  CallSite place = kNoCallSite;
  int64_t calls = 0;
  int64_t calls_collapsed = 0;  // of the calls: made by a routine collapsed into the caller
  int64_t total = 0;      // over the callee's outermost activations: its total has these parts
  int64_t total2 = 0;     // over all of its activations
  int64_t inclusive = 0;  // spent below this arc, each moment once; T and widths are of this
  int64_t self = 0;       // or of this: of the callee itself, when called over this arc
  Recursion recursion = Recursion::kNone;
};

class CallGraph {
 public:
  // Routines with less than `filter_percent` of the whole are collapsed into their callers.
  CallGraph(const GraphSource& source, double filter_percent);

  // nodes()[0] is the virtual root, all threads. The others by total and calls descending, then
  // name.
  const std::vector<GraphNode>& nodes() const { return nodes_; }
  // By inclusive and calls descending, then the nodes' order.
  const std::vector<GraphArc>& arcs() const { return arcs_; }
  int64_t whole() const { return whole_; }
  std::string_view Name(const GraphNode& node) const;
  // From 0 to 1.
  double Share(const GraphArc& arc) const { return ShareOf(arc.inclusive); }
  double SelfShare(const GraphArc& arc) const { return ShareOf(arc.self); }
  // In pixels, by the arc's place in arcs(); of SelfShare if `by_self`.
  std::vector<double> Widths(const ArcWidths& widths, bool by_self) const;

  struct Collapsed {
    int64_t routines = 0;
    int64_t calls = 0;
    int64_t self = 0;
  };
  const Collapsed& collapsed() const { return collapsed_; }

 private:
  class Builder;
  double ShareOf(int64_t part) const;

  const FlatProfile& flat_;
  int64_t whole_ = 0;
  std::vector<GraphNode> nodes_;
  std::vector<GraphArc> arcs_;
  Collapsed collapsed_;
};

// Self and total of each routine, by row of the FlatProfile; a thread's row has only its self.
struct SelfAndTotal {
  int64_t self = 0;
  int64_t total = 0;
};
std::vector<SelfAndTotal> CostOfRoutines(const GraphSource& source);

// The time filter of a call graph (S4.10): the least share of the whole that a function must have,
// itself and its descendants, to be shown.
constexpr double kGreatestTimeFilter = 20;  // percent
constexpr int kTimeFilterStepsPerPercent = 10;
constexpr size_t kFunctionsShownAtFirst = 30;
constexpr int kFewestShownAtFirst = 3;

// The initial filter, in percent: the total of the 30th function, rounded up to the next step, at
// most 20. So at most 30 functions have that much, unless several have the 30th's total or 30 have
// more than 20 %. Where the rounding hides nearly all, because many have about the 30th's total, it
// is the step below: all of those are shown. 0 if there are no more than 30. `totals` in any order.
double FirstTimeFilter(std::vector<int64_t> totals, int64_t whole);

}  // namespace jtrace::postproc
