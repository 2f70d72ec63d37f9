#include "postproc/calltree/arc_flow.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace jtrace::postproc {
namespace {

void AddTo(Arc& arc, const CallNode& node, const NodeTotals& totals) {
  arc.calls = WrapAdd(arc.calls, node.calls);
  arc.base = WrapAdd(arc.base, node.base);
  arc.cum = WrapAdd(arc.cum, totals.cum);
  arc.base_ticks = WrapAdd(arc.base_ticks, node.base_ticks);
  arc.cum_ticks = WrapAdd(arc.cum_ticks, totals.cum_ticks);
}

// All arcs by stanza, kind and partner.
class ArcTable {
 public:
  explicit ArcTable(size_t rows) : arcs_(rows) {}

  Arc& Find(uint32_t self, ArcKind kind, uint32_t other) {
    auto [entry, inserted] = index_.try_emplace(std::tuple(self, kind, other), arcs_[self].size());
    if (inserted) {
      Arc arc;
      arc.kind = kind;
      arc.other = other;
      arcs_[self].push_back(arc);
    }
    return arcs_[self][entry->second];
  }
  std::vector<Arc> Take(uint32_t self) { return std::move(arcs_[self]); }

 private:
  std::vector<std::vector<Arc>> arcs_;
  absl::flat_hash_map<std::tuple<uint32_t, ArcKind, uint32_t>, size_t> index_;
};

struct ArcSums {
  Arc parents;   // over parent and rparent
  Arc outer;     // over parent alone
  Arc children;  // over child and rchild
};

void AddSum(Arc& sum, const Arc& arc) {
  sum.calls = WrapAdd(sum.calls, arc.calls);
  sum.base = WrapAdd(sum.base, arc.base);
  sum.cum = WrapAdd(sum.cum, arc.cum);
  sum.base_ticks = WrapAdd(sum.base_ticks, arc.base_ticks);
  sum.cum_ticks = WrapAdd(sum.cum_ticks, arc.cum_ticks);
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
                 const FlatProfile& flat)
    : flat_(flat) {
  ArcTable table(flat.rows().size());
  for (uint32_t i = 0; i < tree.size(); ++i) {
    const CallNode& node = tree.node(NodeId(i + 1));
    if (!node.parent) continue;
    const uint32_t self = flat.RowOf(NodeId(i + 1));
    const uint32_t caller = flat.RowOf(node.parent);
    const bool recursive = totals[i].recursion_level > 1;
    const bool caller_recursive = totals[node.parent.value - 1].recursion_level > 1;
    AddTo(table.Find(self, recursive ? ArcKind::kRecursiveParent : ArcKind::kParent, caller), node,
          totals[i]);
    AddTo(table.Find(caller, caller_recursive ? ArcKind::kRecursiveChild : ArcKind::kChild, self),
          node, totals[i]);
  }
  for (const uint32_t self : flat.Sorted()) {
    Stanza& stanza = stanzas_.emplace_back();
    stanza.self = self;
    stanza.arcs = table.Take(self);
    std::stable_sort(stanza.arcs.begin(), stanza.arcs.end(), [&](const Arc& a, const Arc& b) {
      const auto& rows = flat_.rows();
      const FlatRow& row_a = rows[a.other];
      const FlatRow& row_b = rows[b.other];
      return std::tie(a.kind, b.cum, b.cum_ticks, b.calls, row_a.name, row_a.is_root) <
             std::tie(b.kind, a.cum, a.cum_ticks, a.calls, row_b.name, row_b.is_root);
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
      check.broken[1] +=
          sums.parents.base != self.base || sums.parents.base_ticks != self.base_ticks;
      check.broken[2] += sums.outer.cum != self.cum || sums.parents.cum != self.cum2 ||
                         sums.outer.cum_ticks != self.cum_ticks ||
                         sums.parents.cum_ticks != self.cum2_ticks;
    }
    check.broken[3] += sums.children.cum != WrapSub(self.cum2, self.base) ||
                       sums.children.cum_ticks != WrapSub(self.cum2_ticks, self.base_ticks);
  }
  return check;
}

}  // namespace jtrace::postproc
