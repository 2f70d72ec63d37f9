#include "postproc/diff/diff_tree.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

void AddMissing(const std::vector<std::string>& from, std::vector<std::string>& names) {
  for (const std::string& name : from) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
}

// Of values without callees those with them.
void AddCallees(const DiffTree& tree, std::vector<int64_t>& values) {
  for (size_t i = values.size(); i-- > 1;) {
    int64_t& above = values[tree.nodes()[i].parent];
    above = WrapAdd(above, values[i]);
  }
}

std::vector<uint32_t> UpTo(size_t count) {
  std::vector<uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

std::vector<int64_t> SumsOf(const ReportInput& input, const Measure& measure,
                            const std::vector<uint32_t>& node_of,
                            absl::Span<const uint32_t> group_of, size_t groups) {
  std::vector<int64_t> sums(groups);
  for (uint32_t i = 0; i < node_of.size(); ++i) {
    if (!input.tree.node(NodeId(i + 1)).parent) continue;
    int64_t& sum = sums[group_of[node_of[i]]];
    sum = WrapAdd(sum, measure.base[i]);
  }
  return sums;
}

}  // namespace

DiffTree::DiffTree(const ReportInput& before, const ReportInput& after)
    : before_(before), after_(after) {
  nodes_.push_back({});
  of_before_ = Add(before);
  of_after_ = Add(after);
  children_ = {};
  numbers_ = {};
}

uint32_t DiffTree::NameOf(std::string_view name) {
  const auto [entry, is_new] =
      numbers_.try_emplace(std::string(name), static_cast<uint32_t>(names_.size()));
  if (is_new) names_.emplace_back(name);
  return entry->second;
}

uint32_t DiffTree::Child(uint32_t parent, uint32_t name) {
  const auto [entry, is_new] =
      children_.try_emplace(uint64_t{parent} << 32 | name, static_cast<uint32_t>(nodes_.size()));
  if (is_new) nodes_.push_back({parent, name});
  return entry->second;
}

std::vector<uint32_t> DiffTree::Add(const ReportInput& input) {
  std::vector<uint32_t> node_of(input.tree.size());
  for (uint32_t i = 0; i < node_of.size(); ++i) {
    const CallNode& node = input.tree.node(NodeId(i + 1));
    if (!node.parent) continue;  // a thread's root is node 0
    const FlatRow& row = input.flat().rows()[input.flat().RowOf(NodeId(i + 1))];
    node_of[i] = Child(node_of[node.parent.value - 1], NameOf(row.name));
  }
  return node_of;
}

std::vector<std::string> DiffTree::Measures() const {
  std::vector<std::string> names = MeasureNames(before_.model, before_.tree);
  AddMissing(MeasureNames(after_.model, after_.tree), names);
  return names;
}

DiffMeasure DiffTree::MeasureOf(std::string_view name) const {
  return {MakeMeasure(name, before_.model, before_.tree),
          MakeMeasure(name, after_.model, after_.tree)};
}

DiffSums DiffTree::SumUp(const DiffMeasure& measure, absl::Span<const uint32_t> group_of,
                         size_t groups) const {
  return {SumsOf(before_, measure.before, of_before_, group_of, groups),
          SumsOf(after_, measure.after, of_after_, group_of, groups)};
}

DiffPageTree::DiffPageTree(const DiffTree& tree, const DiffMeasure& heat, size_t limit) {
  const size_t size = tree.nodes().size();
  keeper_ = UpTo(size);
  {
    DiffSums sums = tree.SumUp(heat, keeper_, size);
    AddCallees(tree, sums.before);
    AddCallees(tree, sums.after);
    for (size_t i = 0; i < size; ++i) sums.before[i] = std::max(sums.before[i], sums.after[i]);
    heat_ = std::move(sums.before);
  }
  // Each node that stays may get one [pruned] node.
  if (keeper_.size() > limit) Choose(tree, std::max<size_t>(limit / 2, 1));
  Append(tree);
  heat_ = {};
  keeper_ = {};
}

void DiffPageTree::Choose(const DiffTree& tree, size_t limit) {
  std::vector<uint32_t> order = UpTo(keeper_.size());
  // Of equally hot nodes the parent is first, because its number is smaller.
  std::stable_sort(order.begin() + 1, order.end(),
                   [&](uint32_t a, uint32_t b) { return heat_[a] > heat_[b]; });
  std::vector<bool> is_hot(keeper_.size());
  for (size_t i = 0; i < limit; ++i) is_hot[order[i]] = true;
  for (uint32_t i = 1; i < keeper_.size(); ++i) {
    const uint32_t parent = tree.nodes()[i].parent;
    if (is_hot[i] && keeper_[parent] == parent) continue;
    keeper_[i] = keeper_[parent];
    ++left_out_;
  }
}

void DiffPageTree::Append(const DiffTree& tree) {
  // Of nodes that stay: there are few of them.
  absl::flat_hash_map<uint32_t, std::vector<uint32_t>> children;
  std::vector<bool> loses(keeper_.size());
  for (uint32_t i = 1; i < keeper_.size(); ++i) {
    if (keeper_[i] == i)
      children[tree.nodes()[i].parent].push_back(i);
    else
      loses[keeper_[i]] = true;
  }
  entry_.resize(keeper_.size());
  absl::flat_hash_map<uint32_t, uint32_t> pruned;
  std::vector<std::pair<uint32_t, uint32_t>> pending = {{0, 0}};
  while (!pending.empty()) {
    const auto [node, level] = pending.back();
    pending.pop_back();
    entry_[node] = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back({node, level, false});
    if (loses[node]) {
      pruned[node] = static_cast<uint32_t>(nodes_.size());
      nodes_.push_back({node, level + 1, true});
    }
    std::vector<uint32_t>& below = children[node];
    std::sort(below.begin(), below.end(), [&](uint32_t a, uint32_t b) {
      if (heat_[a] != heat_[b]) return heat_[a] < heat_[b];
      return tree.names()[tree.nodes()[a].name] > tree.names()[tree.nodes()[b].name];
    });
    for (const uint32_t child : below) pending.emplace_back(child, level + 1);
  }
  for (uint32_t i = 0; i < entry_.size(); ++i) {
    if (keeper_[i] != i) entry_[i] = pruned.at(keeper_[i]);
  }
}

}  // namespace jtrace::postproc
