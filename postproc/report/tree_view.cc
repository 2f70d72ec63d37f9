#include "postproc/report/tree_view.h"

#include <algorithm>
#include <tuple>

#include "postproc/model/path_step.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

constexpr std::string_view kColumns[] = {
    "first",   "name",         "calls", "base",  "cum",   "elapsed", "base_ticks", "cum_ticks",
    "samples", "calls_jitted", "self",  "total", "share", "time",    "waiting"};

}  // namespace

std::vector<std::string> TreeColumns(std::string_view metric) {
  std::vector<std::string> columns(std::begin(kColumns), std::end(kColumns));
  if (!metric.empty()) {
    columns.push_back(StrCat(metric, ".base"));
    columns.push_back(StrCat(metric, ".cum"));
  }
  return columns;
}

namespace {

TreeView::SortBy SortByOf(const Measure& measure, std::string_view sort) {
  if (sort == "self") return TreeView::SortBy::kMeasureBase;
  if (sort == "total" || sort == "share") return TreeView::SortBy::kMeasureCum;
  if (!measure.is_chosen) return TreeView::SortBy::kColumn;
  if (sort.empty() || sort == StrCat(measure.name, ".cum")) return TreeView::SortBy::kMeasureCum;
  return sort == StrCat(measure.name, ".base") ? TreeView::SortBy::kMeasureBase
                                               : TreeView::SortBy::kColumn;
}

}  // namespace

TreeView::TreeView(const ReportInput& input, std::string_view sort)
    : input_(input), sort_(sort), sort_by_(SortByOf(input.measure(), sort)) {}

std::string_view TreeView::Name(NodeId id) const {
  const CallNode& node = input_.tree.node(id);
  return node.routine ? input_.model.RoutineName(node.routine)
                      : std::string_view(input_.model.thread(node.thread).name);
}

std::string TreeView::Site(NodeId id) const {
  const CallNode& node = input_.tree.node(id);
  if (node.place == kNoCallSite) return "";
  return StrCat(Name(node.parent), PlaceText(node.place));
}

std::string TreeView::NameWithSite(NodeId id) const {
  const std::string site = Site(id);
  return site.empty() ? std::string(Name(id)) : StrCat(site, " > ", Name(id));
}

int64_t TreeView::Key(NodeId id) const {
  if (sort_by_ == SortBy::kMeasureBase) return input_.measure().Base(id);
  if (sort_by_ == SortBy::kMeasureCum) return input_.measure().Cum(id);
  const CallNode& node = input_.tree.node(id);
  const NodeTotals& totals = input_.totals()[id.value - 1];
  if (sort_ == "calls") return node.calls;
  if (sort_ == "calls_jitted") return node.calls_jitted;
  if (sort_ == "base") return node.base;
  if (sort_ == "elapsed") return totals.elapsed();
  if (sort_ == "base_ticks") return node.base_ticks;
  if (sort_ == "cum_ticks") return totals.cum_ticks;
  if (sort_ == "samples") return node.samples;
  if (sort_ == "waiting") return totals.off;
  return totals.cum;
}

int64_t TreeView::Weight(NodeId id) const {
  return sort_.empty() || sort_ == "first" || sort_ == "name" ? input_.measure().Base(id) : Key(id);
}

bool TreeView::Before(NodeId a, NodeId b) const {
  const CallSite place_a = input_.tree.node(a).place;
  const CallSite place_b = input_.tree.node(b).place;
  if (sort_ == "name") return std::tuple(Name(a), place_a) < std::tuple(Name(b), place_b);
  if (!sort_.empty() || sort_by_ == SortBy::kMeasureCum) {
    const int64_t key_a = Key(a);
    const int64_t key_b = Key(b);
    if (key_a != key_b) return key_a > key_b;
  }
  const NodeTotals& totals_a = input_.totals()[a.value - 1];
  const NodeTotals& totals_b = input_.totals()[b.value - 1];
  const int64_t calls_a = input_.tree.node(a).calls;
  const int64_t calls_b = input_.tree.node(b).calls;
  return std::tuple(totals_b.cum, totals_b.cum_ticks, calls_b, Name(a), place_a) <
         std::tuple(totals_a.cum, totals_a.cum_ticks, calls_a, Name(b), place_b);
}

std::vector<NodeId> TreeView::SortedChildren(NodeId parent) const {
  std::vector<NodeId> children;
  for (NodeId at = input_.tree.node(parent).first_child; at;
       at = input_.tree.node(at).next_sibling) {
    children.push_back(at);
  }
  Sort(children);
  return children;
}

void TreeView::Sort(std::vector<NodeId>& children) const {
  if (children.size() < 2 || sort_ == "first") return;
  std::stable_sort(children.begin(), children.end(),
                   [this](NodeId a, NodeId b) { return Before(a, b); });
}

void TreeView::Walk(const std::vector<bool>* shown, absl::FunctionRef<bool(NodeId)> visit) const {
  std::vector<NodeId> children;
  std::vector<NodeId> pending(input_.tree.roots().rbegin(), input_.tree.roots().rend());
  while (!pending.empty()) {
    const NodeId at = pending.back();
    pending.pop_back();
    if (!visit(at)) return;
    children.clear();
    for (NodeId child = input_.tree.node(at).first_child; child;
         child = input_.tree.node(child).next_sibling) {
      if (shown == nullptr || (*shown)[child.value - 1]) children.push_back(child);
    }
    Sort(children);
    pending.insert(pending.end(), children.rbegin(), children.rend());
  }
}

}  // namespace jtrace::postproc
