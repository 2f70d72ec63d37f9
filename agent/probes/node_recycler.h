// Returns nodes that were cut off, and slots and tables that were outgrown, to the threads they
// belong to, as memory for nodes. On the writer thread only.
#pragma once

#include <cstdint>
#include <vector>

#include "agent/hot/layout.h"

namespace jtrace {

class NodeRecycler {
 public:
  // `node_bytes`: including the data that follows each node. `blocks_offset`: of hot::NodeBlocks in
  // it; 0: there are none.
  NodeRecycler(hot::Arena* arena, uint64_t node_bytes, uint64_t blocks_offset)
      : arena_(arena), node_bytes_(node_bytes), blocks_offset_(blocks_offset) {}

  // Out of the thread's list, though samples that are not read yet may name it.
  void Retire(hot::ThreadState& state, hot::Ref node) { retired_.push_back({&state, node}); }
  // Once those samples are read.
  void FreeRetired();
  // Frees the slots and tables that the thread has dropped.
  void TakeDroppedTables(hot::ThreadState& state);

 private:
  struct Retired {
    hot::ThreadState* state;
    hot::Ref node;
  };
  // The memory in which the node's children were found, of so many bytes without a table.
  void FreeSlots(hot::ThreadState& state, const hot::Node& node, uint64_t bytes);
  // Counters of blocks outside of it.
  void FreeBlocks(hot::ThreadState& state, const hot::Node& node);
  uint64_t TableBytes(hot::Ref table) const;
  void FreeMemory(hot::ThreadState& state, hot::Ref memory, uint64_t bytes);
  // `few_slots`: those of the node that was there, which share a granule, stay for the thread to
  // free; 0: there are none.
  void FreeOne(hot::ThreadState& state, hot::Ref ref, uint64_t few_slots = 0);

  hot::Arena* arena_;
  const uint64_t node_bytes_;
  const uint64_t blocks_offset_;
  std::vector<Retired> retired_;
};

}  // namespace jtrace
