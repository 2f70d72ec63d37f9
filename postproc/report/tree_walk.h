// The lines of the call tree as text, from the top: nodes, chains of nodes in one line, and lines
// for what is left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "postproc/model/code_owner.h"
#include "postproc/report/report.h"
#include "postproc/report/tree_view.h"

namespace jtrace::postproc {

struct TreeWalkOptions {
  double filter_percent = 0;  // nodes below that share of the whole are left out
  // Threads with events come first; the others have only one line.
  bool program_first = false;
  bool folds_chains = true;
  int64_t heaviest = 0;  // only so many nodes, and those above them; 0: all
};

struct TreeLine {
  enum class Kind : uint8_t {
    kNode,
    kChain,    // nodes of one child each, without self of weight
    kUnnamed,  // native functions of one file without names
    kSmallThreads,
    kSmallPaths,
  };
  Kind kind = Kind::kNode;
  NodeId id;            // of a chain its outermost node; none: a line for what is left out
  NodeId end;           // of a chain its innermost node, else the same
  uint32_t depth = 0;   // lines above that lead to it
  bool is_last = true;  // of its siblings
  int64_t total = 0;
  int64_t self = 0;    // of a chain: of all its nodes
  uint64_t count = 1;  // nodes of a chain; threads or paths that are left out
  bool has_node() const { return static_cast<bool>(id); }
};

// What a walk with `heaviest` leaves out: together with the lines it is the whole tree.
struct LeftOutNodes {
  int64_t count = 0;
  int64_t self = 0;
};

class TreeWalk {
 public:
  // All must outlive it.
  TreeWalk(const ReportInput& input, const TreeView& view, const std::vector<CodeOwner>& kinds,
           const TreeWalkOptions& options);

  // False at the end.
  bool Next(TreeLine& line);
  // Known lines of nodes that Next has still to return.
  size_t WaitingNodes() const;
  LeftOutNodes LeftOut() const;
  // A thread that has only one line.
  bool IsCollapsed(NodeId id) const;

 private:
  struct Children {
    std::vector<NodeId> shown;
    uint64_t small = 0;
    int64_t small_total = 0;
  };

  double ShareOf(int64_t value) const;
  bool IsHot(int64_t total) const;
  // By the samples, or by the clock: waiting code has no samples.
  bool IsHotNode(NodeId id) const;
  bool IsShown(NodeId id) const;
  // Samples have no values of --metric: neither do nodes that only samples made, nor threads that
  // only samples saw.
  bool IsIgnored(NodeId id) const;
  void SelectHeaviest();
  void PushRoots();
  void PushChildren(const TreeLine& parent);
  Children ChildrenOf(NodeId parent) const;
  // None: it has none, or more than one line below.
  NodeId OnlyChild(NodeId id) const;
  TreeLine LineOf(NodeId id) const;
  bool MayFold(NodeId id) const;
  bool AreAlike(NodeId above, NodeId below) const;
  bool FoldChain(TreeLine& line) const;
  bool FoldUnnamed(TreeLine& line) const;
  CodeOwner OwnerOf(NodeId id) const { return kinds_[input_.tree.routine(id).value]; }
  std::string_view UnnamedFile(NodeId id) const {
    return unnamed_files_[input_.tree.routine(id).value];
  }

  const ReportInput& input_;
  const TreeView& view_;
  const std::vector<CodeOwner>& kinds_;
  const TreeWalkOptions options_;
  const Measure& measure_;
  int64_t clocked_ = 0;  // the clock's time of all threads, waiting and all
  bool collapses_ = false;
  std::vector<std::string_view> unnamed_files_;  // by routine
  std::vector<bool> selected_;                   // by NodeId.value - 1; empty: all
  std::vector<TreeLine> pending_;                // the next one last
};

}  // namespace jtrace::postproc
