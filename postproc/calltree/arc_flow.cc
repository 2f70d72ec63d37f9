#include "postproc/calltree/arc_flow.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace jtrace::postproc {
namespace {

void AddTo(Arc& arc, const CallNode& node, const NodeTotals& totals, const Measure& measure,
           NodeId id) {
  arc.calls = WrapAdd(arc.calls, node.calls);
  arc.base = WrapAdd(arc.base, node.base);
  arc.cum = WrapAdd(arc.cum, totals.cum);
  arc.base_ticks = WrapAdd(arc.base_ticks, node.base_ticks);
  arc.cum_ticks = WrapAdd(arc.cum_ticks, totals.cum_ticks);
  arc.measure_base = WrapAdd(arc.measure_base, measure.Base(id));
  arc.measure_cum = WrapAdd(arc.measure_cum, measure.Cum(id));
  MergeExtremes(node, arc);
}

void AddSum(Arc& sum, const Arc& arc) {
  sum.calls = WrapAdd(sum.calls, arc.calls);
  sum.base = WrapAdd(sum.base, arc.base);
  sum.cum = WrapAdd(sum.cum, arc.cum);
  sum.base_ticks = WrapAdd(sum.base_ticks, arc.base_ticks);
  sum.cum_ticks = WrapAdd(sum.cum_ticks, arc.cum_ticks);
  sum.measure_base = WrapAdd(sum.measure_base, arc.measure_base);
  sum.measure_cum = WrapAdd(sum.measure_cum, arc.measure_cum);
  MergeExtremes(arc, sum);
}

ArcKind CallerKind(bool is_recursive) {
  return is_recursive ? ArcKind::kRecursiveParent : ArcKind::kParent;
}
ArcKind CalleeKind(bool is_recursive) {
  return is_recursive ? ArcKind::kRecursiveChild : ArcKind::kChild;
}

// The arcs between one caller's row and the rows that it calls, on one side: those that share an
// other row differ by kind and place, mostly there is one.
class ArcsOfCaller {
 public:
  explicit ArcsOfCaller(size_t rows) : first_(rows, kNone) {}

  Arc& Find(uint32_t callee, ArcKind kind, CallSite place) {
    uint32_t* link = &first_[callee];
    while (*link != kNone) {
      Found& found = found_[*link];
      if (found.arc.kind == kind && found.arc.place == place) return found.arc;
      link = &found.next;
    }
    *link = static_cast<uint32_t>(found_.size());
    Found& added = found_.emplace_back();
    added.callee = callee;
    added.arc.kind = kind;
    added.arc.place = place;
    return added.arc;
  }

  // Passes each arc and its callee on, and forgets them.
  template <typename Visit>
  void Take(Visit visit) {
    for (Found& found : found_) {
      first_[found.callee] = kNone;
      visit(found.callee, found.arc);
    }
    found_.clear();
  }

 private:
  static constexpr uint32_t kNone = ~0u;
  struct Found {
    uint32_t callee = 0;
    uint32_t next = kNone;
    Arc arc;
  };
  std::vector<uint32_t> first_;  // by row
  std::vector<Found> found_;
};

// The sums over a stanza's arcs.
struct ArcSums {
  Arc parents;   // over parent and rparent
  Arc outer;     // over parent only
  Arc children;  // over child and rchild
};

std::vector<ArcSums> SumsByRow(const CallTree& tree, const TreeTotals& totals,
                               const FlatProfile& flat, const Measure& measure) {
  std::vector<ArcSums> sums(flat.rows().size());
  std::vector<int64_t> calls(flat.rows().size());  // of parents
  const size_t end = EndOfValues(tree, totals, measure);
  for (uint32_t i = 0; i < tree.size(); ++i) {
    const NodeId id(i + 1);
    const NodeId parent = tree.parent(id);
    if (!parent) continue;
    const uint32_t self = flat.RowOf(id);
    if (i >= end) {
      calls[self] = WrapAdd(calls[self], tree.calls(id));
      continue;
    }
    const CallNode node = tree.node(id);
    AddTo(sums[self].parents, node, totals[i], measure, id);
    if (totals.recursion_level(i) == 1) AddTo(sums[self].outer, node, totals[i], measure, id);
    AddTo(sums[flat.RowOf(parent)].children, node, totals[i], measure, id);
  }
  for (size_t row = 0; row < sums.size(); ++row) {
    sums[row].parents.calls = WrapAdd(sums[row].parents.calls, calls[row]);
  }
  return sums;
}

ArcSums SumsOfArcs(const Stanza& stanza) {
  ArcSums sums;
  for (const Arc& arc : stanza.arcs) {
    const bool is_parent = arc.kind == ArcKind::kParent || arc.kind == ArcKind::kRecursiveParent;
    AddSum(is_parent ? sums.parents : sums.children, arc);
    if (arc.kind == ArcKind::kParent) AddSum(sums.outer, arc);
  }
  return sums;
}

}  // namespace

// The nodes that a stanza of these rows has, by the row of their caller: a counting sort, so that
// the arcs of one caller are found together, without a search among all.
ArcFlow::NodesByCaller ArcFlow::NodesOf(const std::vector<Stanza*>& wanted) const {
  NodesByCaller sorted;
  sorted.ends.resize(wanted.size() + 1);
  const auto for_each = [&](auto visit) {
    for (uint32_t i = 0; i < tree_.size(); ++i) {
      const NodeId parent = tree_.parent(NodeId(i + 1));
      if (!parent) continue;
      const uint32_t caller = flat_.RowOf(parent);
      const uint32_t callee = flat_.RowOf(NodeId(i + 1));
      if (wanted[caller] != nullptr || wanted[callee] != nullptr) visit(caller, callee, i);
    }
  };
  for_each([&](uint32_t caller, uint32_t, uint32_t) { ++sorted.ends[caller + 1]; });
  std::partial_sum(sorted.ends.begin(), sorted.ends.end(), sorted.ends.begin());
  sorted.nodes.resize(sorted.ends.back());
  // Each end moves from where its row begins to where it ends.
  for_each([&](uint32_t caller, uint32_t callee, uint32_t i) {
    const uint32_t parent = tree_.parent(NodeId(i + 1)).value - 1;
    sorted.nodes[sorted.ends[caller]++] = {i, callee, totals_.recursion_level(i) > 1,
                                           totals_.recursion_level(parent) > 1};
  });
  return sorted;
}

std::vector<Stanza> ArcFlow::Stanzas(std::span<const uint32_t> rows) const {
  std::vector<Stanza> stanzas(rows.size());
  std::vector<Stanza*> of_row(flat_.rows().size());
  for (size_t i = 0; i < rows.size(); ++i) {
    stanzas[i].self = rows[i];
    of_row[rows[i]] = &stanzas[i];
  }
  AddArcs(NodesOf(of_row), of_row);
  for (Stanza& stanza : stanzas) Sort(stanza.arcs);
  return stanzas;
}

void ArcFlow::AddArcs(const NodesByCaller& sorted, const std::vector<Stanza*>& of_row) const {
  ArcsOfCaller to_callers(of_row.size());
  ArcsOfCaller to_callees(of_row.size());
  const size_t end = EndOfValues(tree_, totals_, measure_);
  size_t at = 0;
  for (uint32_t caller = 0; caller < of_row.size(); ++caller) {
    for (; at < sorted.ends[caller]; ++at) {
      const Called& it = sorted.nodes[at];
      const uint32_t i = it.index;
      const uint32_t callee = it.callee;
      const NodeId id(i + 1);
      const bool has_only_calls = i >= end && !tree_.has_extremes(id);
      const int64_t calls = has_only_calls ? tree_.calls(id) : 0;
      const auto add = [&](Arc& arc) {
        if (has_only_calls) {
          arc.calls = WrapAdd(arc.calls, calls);
        } else {
          AddTo(arc, tree_.node(id), totals_[i], measure_, id);
        }
      };
      const CallSite place = tree_.place(id);
      if (of_row[callee] != nullptr) {
        add(to_callers.Find(callee, CallerKind(it.is_recursive), place));
      }
      if (of_row[caller] != nullptr) {
        add(to_callees.Find(callee, CalleeKind(it.calls_recursively), place));
      }
    }
    to_callers.Take([&](uint32_t callee, Arc& arc) {
      arc.other = caller;
      of_row[callee]->arcs.push_back(arc);
    });
    to_callees.Take([&](uint32_t callee, Arc& arc) {
      arc.other = callee;
      of_row[caller]->arcs.push_back(arc);
    });
  }
}

void ArcFlow::Sort(std::vector<Arc>& arcs) const {
  std::stable_sort(arcs.begin(), arcs.end(), [&](const Arc& a, const Arc& b) {
    const auto& rows = flat_.rows();
    const FlatRow& row_a = rows[a.other];
    const FlatRow& row_b = rows[b.other];
    const int64_t order_a = measure_.is_chosen ? a.measure_cum : 0;
    const int64_t order_b = measure_.is_chosen ? b.measure_cum : 0;
    return std::tie(a.kind, order_b, b.cum, b.cum_ticks, b.calls, row_a.name, row_a.is_root,
                    a.place) < std::tie(b.kind, order_a, a.cum, a.cum_ticks, a.calls, row_b.name,
                                        row_b.is_root, b.place);
  });
}

int InvariantCheck::held() const {
  return static_cast<int>(std::count(broken.begin(), broken.end(), 0));
}

InvariantCheck ArcFlow::Check(std::span<const Stanza> made) const {
  InvariantCheck check;
  std::vector<ArcSums> all = SumsByRow(tree_, totals_, flat_, measure_);
  for (const Stanza& stanza : made) all[stanza.self] = SumsOfArcs(stanza);
  for (size_t row = 0; row < all.size(); ++row) {
    ++check.stanzas;
    const FlatRow& self = flat_.rows()[row];
    const ArcSums& sums = all[row];
    if (!self.is_root) {
      check.broken[0] += sums.parents.calls != self.calls;
      check.broken[1] += sums.parents.base != self.base ||
                         sums.parents.base_ticks != self.base_ticks ||
                         sums.parents.measure_base != self.measure.base;
      check.broken[2] += sums.outer.cum != self.cum || sums.parents.cum != self.cum2 ||
                         sums.outer.cum_ticks != self.cum_ticks ||
                         sums.parents.cum_ticks != self.cum2_ticks ||
                         sums.outer.measure_cum != self.measure.cum ||
                         sums.parents.measure_cum != self.measure.cum2;
    }
    check.broken[3] += sums.children.cum != WrapSub(self.cum2, self.base) ||
                       sums.children.cum_ticks != WrapSub(self.cum2_ticks, self.base_ticks) ||
                       sums.children.measure_cum != WrapSub(self.measure.cum2, self.measure.base);
  }
  return check;
}

}  // namespace jtrace::postproc
