// Who calls whom, how often and at what cost (FIG. 27, S4.3): a stanza for each routine with its
// callers above and its callees below.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "postproc/calltree/call_tree.h"
#include "postproc/calltree/flat_profile.h"

namespace jtrace::postproc {

// kRecursiveParent: this activation is recursive; kRecursiveChild: its caller, the stanza's own
// routine, is.
enum class ArcKind : uint8_t { kParent, kRecursiveParent, kChild, kRecursiveChild };

// A caller or callee in a stanza.
struct Arc {
  ArcKind kind = ArcKind::kParent;
  uint32_t other = 0;            // row of the caller or callee in the FlatProfile
  CallSite place = kNoCallSite;  // in the caller
  int64_t calls = 0;
  int64_t base = 0;
  int64_t cum = 0;
  int64_t base_ticks = 0;
  int64_t cum_ticks = 0;
  int64_t measure_base = 0;
  int64_t measure_cum = 0;
  // Of the callee, when called over this arc; as FlatRow.
  int64_t min_base = 0;
  int64_t max_base = 0;
  bool has_extremes = false;
  bool has_rough_extremes = false;
};

// A routine with its callers and callees.
struct Stanza {
  uint32_t self = 0;      // row of the FlatProfile
  std::vector<Arc> arcs;  // by kind; in it as FlatProfile::Sorted
};

// The four invariants of FIG. 27, checked over all stanzas; times, ticks and the measure
// alike.
struct InvariantCheck {
  int64_t stanzas = 0;
  std::array<int64_t, 4> broken{};  // stanzas in which invariant i + 1 does not hold
  int held() const;
};

class ArcFlow {
 public:
  // All outlive it.
  ArcFlow(const CallTree& tree, const TreeTotals& totals, const FlatProfile& flat,
          const Measure& measure)
      : tree_(tree), totals_(totals), flat_(flat), measure_(measure) {}

  // Of these rows of the FlatProfile, in their order.
  std::vector<Stanza> Stanzas(std::span<const uint32_t> rows) const;
  // Of the sums over the arcs of `made`, and over the nodes of all other rows.
  InvariantCheck Check(std::span<const Stanza> made = {}) const;

 private:
  // What the arcs of a node need, together: nodes of one caller are all over the tree.
  struct Called {
    uint32_t index = 0;  // of the node, from 0
    uint32_t callee : 30 = 0;
    uint32_t is_recursive : 1 = 0;
    uint32_t calls_recursively : 1 = 0;  // the caller is recursive
  };
  // Those of row N: nodes[ends[N - 1]], …, nodes[ends[N] - 1].
  struct NodesByCaller {
    std::vector<Called> nodes;
    std::vector<uint32_t> ends;
  };
  // `wanted`, `of_row`: by row of the FlatProfile, null if it has no stanza.
  NodesByCaller NodesOf(const std::vector<Stanza*>& wanted) const;
  void AddArcs(const NodesByCaller& sorted, const std::vector<Stanza*>& of_row) const;
  void Sort(std::vector<Arc>& arcs) const;

  const CallTree& tree_;
  const TreeTotals& totals_;
  const FlatProfile& flat_;
  const Measure& measure_;
};

}  // namespace jtrace::postproc
