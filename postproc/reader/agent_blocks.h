// The counters of blocks of an agent, by their last totals (proto/FORMAT.md, "Blocks").
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "postproc/model/record_visitor.h"
#include "proto/trace.pb.h"

namespace jtrace::postproc {

class AgentTrees;
struct TreeNode;

class AgentBlocks {
 public:
  // Call for every chunk, in its order.
  void Add(const proto::Chunk& chunk);

  // A class file; a method of it with its counters; both as the arguments of a notice.
  using Emit = absl::FunctionRef<void(std::string_view op, const std::vector<std::string>& args)>;
  // `class_name`: by ClassDef.id; `routine_name`: by Routine.id. In the order of definition, each
  // class before its methods. `trees`: has the calls of methods.
  void ForEach(AgentTrees& trees, absl::FunctionRef<std::string(uint32_t)> class_name,
               absl::FunctionRef<std::string(uint32_t)> routine_name, Emit emit) const;
  bool empty() const { return methods_.empty(); }

  // blocks=paths
  bool has_paths() const { return !by_routine_.empty(); }
  // Call once, after all chunks: sums up what ForEach passes on.
  void FinishPaths(AgentTrees& trees);
  // The counters at a node; each node once.
  std::vector<NodeBlocks> PathsOf(uint32_t id, const TreeNode& node);
  // After all nodes: what belongs to none of them, by Routine.id.
  std::vector<std::pair<uint32_t, NodeBlocks>> WithoutPath(AgentTrees& trees) const;

 private:
  // The counters of one version of a method's code.
  using CodeCounts = std::vector<uint64_t>;
  struct AtNode {
    absl::btree_map<uint32_t, CodeCounts> codes;  // by the first counter
    bool unkept = false;                          // some are counted by method
  };
  // What nodes have of a method.
  struct Placed {
    int64_t calls = 0;
    std::vector<int64_t> counts;  // by place
    std::vector<std::pair<uint32_t, int64_t>> open;
  };

  void AddNodes(const proto::NodeBlocks& blocks);
  uint64_t CountOf(uint32_t counter) const;
  NodeBlocks BlocksAt(uint32_t id, size_t method, const CodeCounts* counted) const;
  // Σ those that counters of the node have.
  void Place(size_t method, const NodeBlocks& blocks);
  using OpenList = std::vector<const proto::OpenActivations*>;
  std::vector<std::string> ArgsOf(const proto::MethodCounters& method, std::string routine,
                                  int64_t calls, const OpenList* open) const;
  // Calls by Routine.id, less those that methods count themselves.
  absl::flat_hash_map<uint32_t, int64_t> CallsLeft(AgentTrees& trees) const;

  std::vector<proto::ClassCode> classes_;
  std::vector<proto::MethodCounters> methods_;
  std::vector<uint64_t> counts_;  // by counter; from FinishPaths on with those at nodes
  absl::flat_hash_map<uint32_t, AtNode> nodes_;
  absl::flat_hash_map<uint32_t, std::vector<size_t>> by_routine_;  // methods_ counted by path
  absl::flat_hash_map<uint32_t, OpenList> open_at_;                // by node
  std::vector<Placed> placed_;                                     // by method
  std::vector<proto::OpenActivations> open_;
};

}  // namespace jtrace::postproc
