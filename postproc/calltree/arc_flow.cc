#include "postproc/calltree/arc_flow.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"

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

// All arcs by stanza, kind and partner.
class ArcTable {
 public:
  explicit ArcTable(size_t rows) : arcs_(rows) {}

  Arc& Find(uint32_t self, ArcKind kind, uint32_t other, CallPlace place) {
    auto [entry, inserted] =
        index_.try_emplace(std::tuple(self, kind, other, place), arcs_[self].size());
    if (inserted) {
      Arc arc;
      arc.kind = kind;
      arc.other = other;
      arc.place = place;
      arcs_[self].push_back(arc);
    }
    return arcs_[self][entry->second];
  }
  std::vector<Arc> Take(uint32_t self) { return std::move(arcs_[self]); }

 private:
  std::vector<std::vector<Arc>> arcs_;
  absl::flat_hash_map<std::tuple<uint32_t, ArcKind, uint32_t, CallPlace>, size_t> index_;
};

struct ArcSums {
  Arc parents;   // over parent and rparent
  Arc outer;     // over parent only
  Arc children;  // over child and rchild
};

void AddSum(Arc& sum, const Arc& arc) {
  sum.calls = WrapAdd(sum.calls, arc.calls);
  sum.base = WrapAdd(sum.base, arc.base);
  sum.cum = WrapAdd(sum.cum, arc.cum);
  sum.base_ticks = WrapAdd(sum.base_ticks, arc.base_ticks);
  sum.cum_ticks = WrapAdd(sum.cum_ticks, arc.cum_ticks);
  sum.measure_base = WrapAdd(sum.measure_base, arc.measure_base);
  sum.measure_cum = WrapAdd(sum.measure_cum, arc.measure_cum);
}

ArcSums SumArcs(const std::vector<Arc>& arcs) {
  ArcSums sums;
  for (const Arc& arc : arcs) {
    const bool is_parent = arc.kind == ArcKind::kParent || arc.kind == ArcKind::kRecursiveParent;
    AddSum(is_parent ? sums.parents : sums.children, arc);
    if (arc.kind == ArcKind::kParent) AddSum(sums.outer, arc);
  }
  return sums;
}

}  // namespace

ArcFlow::ArcFlow(const CallTree& tree, const std::vector<NodeTotals>& totals,
                 const FlatProfile& flat, const Measure& measure)
    : flat_(flat) {
  ArcTable table(flat.rows().size());
  for (uint32_t i = 0; i < tree.size(); ++i) {
    const NodeId id(i + 1);
    const CallNode& node = tree.node(id);
    if (!node.parent) continue;
    const uint32_t self = flat.RowOf(id);
    const uint32_t caller = flat.RowOf(node.parent);
    const bool recursive = totals[i].recursion_level > 1;
    const bool caller_recursive = totals[node.parent.value - 1].recursion_level > 1;
    AddTo(table.Find(self, recursive ? ArcKind::kRecursiveParent : ArcKind::kParent, caller,
                     node.place),
          node, totals[i], measure, id);
    AddTo(table.Find(caller, caller_recursive ? ArcKind::kRecursiveChild : ArcKind::kChild, self,
                     node.place),
          node, totals[i], measure, id);
  }
  for (const uint32_t self : flat.Sorted()) {
    Stanza& stanza = stanzas_.emplace_back();
    stanza.self = self;
    stanza.arcs = table.Take(self);
    std::stable_sort(stanza.arcs.begin(), stanza.arcs.end(), [&](const Arc& a, const Arc& b) {
      const auto& rows = flat_.rows();
      const FlatRow& row_a = rows[a.other];
      const FlatRow& row_b = rows[b.other];
      const int64_t order_a = measure.is_chosen ? a.measure_cum : 0;
      const int64_t order_b = measure.is_chosen ? b.measure_cum : 0;
      return std::tie(a.kind, order_b, b.cum, b.cum_ticks, b.calls, row_a.name, row_a.is_root,
                      a.place) < std::tie(b.kind, order_a, a.cum, a.cum_ticks, a.calls, row_b.name,
                                          row_b.is_root, b.place);
    });
  }
}

int InvariantCheck::held() const {
  return static_cast<int>(std::count(broken.begin(), broken.end(), 0));
}

InvariantCheck ArcFlow::Check() const {
  InvariantCheck check;
  for (const Stanza& stanza : stanzas_) {
    ++check.stanzas;
    const FlatRow& self = flat_.rows()[stanza.self];
    const ArcSums sums = SumArcs(stanza.arcs);
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
