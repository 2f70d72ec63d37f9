// --report=diff,html: the comparison of two traces as a page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "postproc/diff/profile_diff.h"
#include "postproc/page/page_tree.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

// A node of either tree or of both. The first one stands for all threads and has no routine.
struct DiffNode {
  uint32_t parent = 0;
  uint32_t name = 0;  // index in DiffTree::names()
};

// A measure of both trees. It has a number for each of their nodes, so few are to live at a time.
struct DiffMeasure {
  Measure before;
  Measure after;
};

// Of both trees, by node of the DiffTree or by other groups of their nodes.
struct DiffSums {
  std::vector<int64_t> before;
  std::vector<int64_t> after;
};

class DiffTree {
 public:
  // The inputs outlive it.
  DiffTree(const ReportInput& before, const ReportInput& after);

  // Parents precede their children.
  const std::vector<DiffNode>& nodes() const { return nodes_; }
  const std::vector<std::string>& names() const { return names_; }
  // Those that any node of either tree has, in the order of MeasureNames.
  std::vector<std::string> Measures() const;
  DiffMeasure MeasureOf(std::string_view name) const;
  // Without callees. What threads have outside of all routines is left out. `group_of`: of each
  // node here the index of its sum.
  DiffSums SumUp(const DiffMeasure& measure, absl::Span<const uint32_t> group_of,
                 size_t groups) const;

 private:
  uint32_t NameOf(std::string_view name);
  uint32_t Child(uint32_t parent, uint32_t name);
  // By node of the input's tree: its node here.
  std::vector<uint32_t> Add(const ReportInput& input);
  const ReportInput& before_;
  const ReportInput& after_;
  std::vector<DiffNode> nodes_;
  std::vector<std::string> names_;
  // While the tree is built.
  absl::flat_hash_map<std::string, uint32_t> numbers_;  // by name
  absl::flat_hash_map<uint64_t, uint32_t> children_;    // by parent and name
  std::vector<uint32_t> of_before_;
  std::vector<uint32_t> of_after_;
};

// The part of a DiffTree that a page holds, in preorder: the hottest nodes, and below each that
// lost children one [pruned] node with their sums.
struct DiffPageNode {
  uint32_t source = 0;  // of a [pruned] node: its parent
  uint32_t level = 0;
  bool is_pruned = false;
};

class DiffPageTree {
 public:
  // At most `limit` nodes. Heat is the greater of the measure's cum before and after.
  DiffPageTree(const DiffTree& tree, const DiffMeasure& heat, size_t limit);

  const std::vector<DiffPageNode>& nodes() const { return nodes_; }
  size_t left_out() const { return left_out_; }
  // By node of the tree: the page's node with its numbers.
  absl::Span<const uint32_t> entries() const { return entry_; }

 private:
  void Choose(const DiffTree& tree, size_t limit);
  void Append(const DiffTree& tree);

  // While it is made: by node of the tree.
  std::vector<int64_t> heat_;
  std::vector<uint32_t> keeper_;  // the node itself, or the nearest one above that stays
  std::vector<uint32_t> entry_;
  std::vector<DiffPageNode> nodes_;
  size_t left_out_ = 0;
};

// The page's data as JSON; postproc/web/src/diff/data.ts reads it and documents each member.
// `broken`: rules of --fail-on.
std::string DiffPageData(const ProfileDiff& diff, const ReportInput& before,
                         const ReportInput& after, absl::Span<const std::string> broken,
                         size_t max_nodes = kMaxPageNodes);

void DiffPage(const ProfileDiff& diff, const ReportInput& before, const ReportInput& after,
              absl::Span<const std::string> broken, std::ostream& out);

}  // namespace jtrace::postproc
