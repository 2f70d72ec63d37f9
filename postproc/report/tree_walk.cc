#include "postproc/report/tree_walk.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "postproc/report/thread_order.h"

namespace jtrace::postproc {
namespace {

// A chain of fewer nodes is as readable as the line for it. The program's own are what people look
// for.
constexpr uint64_t kLeastChain = 3;
constexpr uint64_t kLeastProgramChain = 4;
// In percent: what a chain's nodes may have themselves.
constexpr double kWeightless = 0.1;

}  // namespace

TreeWalk::TreeWalk(const ReportInput& input, const TreeView& view,
                   const std::vector<CodeOwner>& kinds, const TreeWalkOptions& options)
    : input_(input), view_(view), kinds_(kinds), options_(options), measure_(input.measure()) {
  const auto& roots = input.tree.roots();
  for (const NodeId root : roots) {
    clocked_ = WrapAdd(clocked_, input.totals()[root.value - 1].elapsed());
  }
  collapses_ = options_.program_first && std::any_of(roots.begin(), roots.end(), [&](NodeId root) {
                 return HasEvents(input, root);
               });
  unnamed_files_.resize(input.model.routine_count() + 1);
  for (uint32_t i = 1; i < unnamed_files_.size(); ++i) {
    unnamed_files_[i] = FileOfUnnamed(input.model.RoutineName(RoutineId(i)));
  }
  if (options_.heaviest > 0) SelectHeaviest();
  PushRoots();
}

double TreeWalk::ShareOf(int64_t value) const { return PercentOf(value, measure_.whole); }

bool TreeWalk::IsHot(int64_t total) const {
  return options_.filter_percent == 0 || ShareOf(total) >= options_.filter_percent;
}

bool TreeWalk::IsHotNode(NodeId id) const {
  return IsHot(measure_.Cum(id)) ||
         (!measure_.is_chosen && measure_.kind != Measure::Kind::kCalls &&
          PercentOf(input_.totals()[id.value - 1].elapsed(), clocked_) >= options_.filter_percent);
}

bool TreeWalk::IsShown(NodeId id) const {
  return selected_.empty() ? IsHotNode(id) : selected_[id.value - 1];
}

bool TreeWalk::IsIgnored(NodeId id) const {
  if (!measure_.is_chosen || measure_.kind == Measure::Kind::kTicks || measure_.Cum(id) != 0) {
    return false;
  }
  const CallNode& node = input_.tree.node(id);
  if (node.origin == NodeOrigin::kSample) return true;
  return node.origin == NodeOrigin::kThread && !HasEvents(input_, id);
}

bool TreeWalk::IsCollapsed(NodeId id) const {
  return collapses_ && input_.tree.node(id).origin == NodeOrigin::kThread && !HasEvents(input_, id);
}

// The weight is the node's own: with callees, all heavy nodes are on the way to one.
void TreeWalk::SelectHeaviest() {
  std::vector<NodeId> nodes;
  for (uint32_t i = 1; i <= input_.tree.size(); ++i) {
    if (view_.Weight(NodeId(i)) != 0 && IsHotNode(NodeId(i))) nodes.emplace_back(i);
  }
  const auto most = std::min<size_t>(nodes.size(), static_cast<size_t>(options_.heaviest));
  std::partial_sort(nodes.begin(), nodes.begin() + static_cast<ptrdiff_t>(most), nodes.end(),
                    [this](NodeId a, NodeId b) {
                      return std::tuple(-view_.Weight(a), a.value) <
                             std::tuple(-view_.Weight(b), b.value);
                    });
  selected_.resize(input_.tree.size());
  if (input_.tree.roots().size() == 1) selected_[input_.tree.roots().front().value - 1] = true;
  for (size_t i = 0; i < most; ++i) {
    for (NodeId at = nodes[i]; at && !selected_[at.value - 1]; at = input_.tree.node(at).parent) {
      selected_[at.value - 1] = true;
    }
  }
}

LeftOutNodes TreeWalk::LeftOut() const {
  LeftOutNodes left;
  for (uint32_t i = 1; i <= selected_.size(); ++i) {
    if (selected_[i - 1]) continue;
    ++left.count;
    left.self = WrapAdd(left.self, measure_.Base(NodeId(i)));
  }
  return left;
}

TreeLine TreeWalk::LineOf(NodeId id) const {
  TreeLine line;
  line.id = line.end = id;
  line.total = measure_.Cum(id);
  line.self = measure_.Base(id);
  return line;
}

void TreeWalk::PushRoots() {
  const auto& roots = input_.tree.roots();
  TreeLine small;
  small.kind = TreeLine::Kind::kSmallThreads;
  small.count = 0;
  std::vector<NodeId> shown;
  for (const NodeId root : roots) {
    if (IsIgnored(root)) continue;
    if (IsShown(root) || roots.size() == 1) {
      shown.push_back(root);
    } else if (selected_.empty()) {
      ++small.count;
      small.total = WrapAdd(small.total, measure_.Cum(root));
    }
  }
  const auto rank = [this](NodeId root) {
    return std::tuple(!IsThreadOfJvm(input_, root),
                      options_.program_first && HasEvents(input_, root), measure_.Cum(root));
  };
  std::stable_sort(shown.begin(), shown.end(),
                   [&](NodeId a, NodeId b) { return rank(a) > rank(b); });
  if (small.count > 0) pending_.push_back(small);
  for (size_t i = shown.size(); i-- > 0;) pending_.push_back(LineOf(shown[i]));
}

TreeWalk::Children TreeWalk::ChildrenOf(NodeId parent) const {
  Children children;
  if (IsCollapsed(parent)) return children;
  for (const NodeId child : view_.SortedChildren(parent)) {
    if (IsIgnored(child)) continue;
    if (IsShown(child)) {
      children.shown.push_back(child);
    } else if (selected_.empty()) {
      ++children.small;
      children.small_total = WrapAdd(children.small_total, measure_.Cum(child));
    }
  }
  // Nodes that are small even together are not shown; only the difference between the lines shows
  // them.
  if (!IsHot(children.small_total)) children.small = 0;
  return children;
}

NodeId TreeWalk::OnlyChild(NodeId id) const {
  if (IsCollapsed(id)) return NodeId();
  NodeId only;
  int64_t small_total = 0;
  bool has_small = false;
  for (NodeId child = input_.tree.node(id).first_child; child;
       child = input_.tree.node(child).next_sibling) {
    if (IsIgnored(child)) continue;
    if (IsShown(child)) {
      if (only) return NodeId();
      only = child;
    } else if (selected_.empty()) {
      has_small = true;
      small_total = WrapAdd(small_total, measure_.Cum(child));
    }
  }
  return has_small && IsHot(small_total) ? NodeId() : only;
}

void TreeWalk::PushChildren(const TreeLine& parent) {
  const Children children = ChildrenOf(parent.end);
  const uint32_t depth = parent.depth + 1;
  if (children.small > 0) {
    TreeLine small;
    small.kind = TreeLine::Kind::kSmallPaths;
    small.depth = depth;
    small.total = children.small_total;
    small.count = children.small;
    pending_.push_back(small);
  }
  for (size_t i = children.shown.size(); i-- > 0;) {
    TreeLine line = LineOf(children.shown[i]);
    line.depth = depth;
    line.is_last = i + 1 == children.shown.size() && children.small == 0;
    if (options_.folds_chains && !FoldChain(line)) FoldUnnamed(line);
    pending_.push_back(line);
  }
}

bool TreeWalk::MayFold(NodeId id) const {
  const CodeOwner kind = OwnerOf(id);
  if (kind == CodeOwner::kOther) return false;
  // Calls are what it shows.
  return measure_.is_more_than_calls() || input_.tree.node(id).origin == NodeOrigin::kSample ||
         options_.filter_percent > 0;
}

// The program's methods that are called equally often, or any code of others.
bool TreeWalk::AreAlike(NodeId above, NodeId below) const {
  const bool is_program = OwnerOf(above) == CodeOwner::kProgram;
  if (is_program != (OwnerOf(below) == CodeOwner::kProgram)) return false;
  return input_.tree.node(above).calls == input_.tree.node(below).calls;
}

bool TreeWalk::FoldChain(TreeLine& line) const {
  const NodeId parent = input_.tree.node(line.id).parent;
  const bool is_program = OwnerOf(line.id) == CodeOwner::kProgram;
  // Where others call the program is what people look for.
  const bool is_entry =
      is_program && (!input_.tree.node(parent).parent || OwnerOf(parent) != CodeOwner::kProgram);
  if (is_entry) return false;
  const double limit = std::max(options_.filter_percent, kWeightless);
  int64_t self = 0;
  uint64_t count = 0;
  NodeId end;
  for (NodeId at = line.id; at && MayFold(at); ++count) {
    const NodeId child = OnlyChild(at);
    const int64_t longer = WrapAdd(self, measure_.Base(at));
    if (!child || std::abs(ShareOf(longer)) >= limit) break;
    if (end && !AreAlike(end, at)) break;
    end = at;
    self = longer;
    at = child;
  }
  if (count < (is_program ? kLeastProgramChain : kLeastChain)) return false;
  line.kind = TreeLine::Kind::kChain;
  line.end = end;
  line.self = self;
  line.count = count;
  return true;
}

bool TreeWalk::FoldUnnamed(TreeLine& line) const {
  const std::string_view file = UnnamedFile(line.id);
  if (file.empty()) return false;
  for (NodeId at = OnlyChild(line.id); at && UnnamedFile(at) == file; at = OnlyChild(at)) {
    line.kind = TreeLine::Kind::kUnnamed;
    line.end = at;
    line.self = WrapAdd(line.self, measure_.Base(at));
    ++line.count;
  }
  return line.kind == TreeLine::Kind::kUnnamed;
}

bool TreeWalk::Next(TreeLine& line) {
  if (pending_.empty()) return false;
  line = pending_.back();
  pending_.pop_back();
  if (line.has_node()) PushChildren(line);
  return true;
}

size_t TreeWalk::WaitingNodes() const {
  return static_cast<size_t>(std::count_if(pending_.begin(), pending_.end(),
                                           [](const TreeLine& line) { return line.has_node(); }));
}

}  // namespace jtrace::postproc
