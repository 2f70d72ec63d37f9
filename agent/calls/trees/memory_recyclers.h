// Returns memory that the trees do not need any more to the probes.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "agent/signal_safe/arena.h"
#include "agent/signal_safe/arena_ref.h"
#include "agent/signal_safe/thread_state.h"
#include "agent/signal_safe/tree_node.h"

namespace jtrace::calls {

class BasicBlockCounters;

// Zeroes a chunk to which nothing refers any more, for the probes. On the writer thread.
void FreeChunk(signal_safe::Arena* arena, signal_safe::Chunk& chunk);

// Returns nodes that were cut off, and slots and tables that were outgrown, to the threads they
// belong to, as memory for nodes. On the writer thread only.
class NodeRecycler {
 public:
  // `node_bytes`: including the data that follows each node. `blocks_offset`: of
  // signal_safe::NodeBlocks in it; 0: there are none.
  NodeRecycler(signal_safe::Arena* arena, uint64_t node_bytes, uint64_t blocks_offset)
      : arena_(arena), node_bytes_(node_bytes), blocks_offset_(blocks_offset) {}

  // Takes over a node that is out of the thread's list. Samples that are not read yet may name it.
  void Retire(signal_safe::ThreadState& state, signal_safe::Ref node) {
    retired_.push_back({&state, node});
  }
  // Frees the retired nodes. Called once those samples are read.
  void FreeRetired();
  // Frees the slots and tables that the thread has dropped.
  void FreeDroppedTables(signal_safe::ThreadState& state);

 private:
  struct Retired {
    signal_safe::ThreadState* state;
    signal_safe::Ref node;
  };
  // Frees the node's slots, which have so many `bytes`, and its ChildTable.
  void FreeSlots(signal_safe::ThreadState& state, const signal_safe::Node& node, uint64_t bytes);
  // Frees the node's counters of blocks that are not in the node itself.
  void FreeBlocks(signal_safe::ThreadState& state, const signal_safe::Node& node);
  uint64_t TableBytes(signal_safe::Ref table) const;
  void FreeMemory(signal_safe::ThreadState& state, signal_safe::Ref memory, uint64_t bytes);
  // Frees the memory of one node. `small_slots`: address of the node's slots if they share a
  // granule: they stay in the node for the thread to free; else 0.
  void FreeOne(signal_safe::ThreadState& state, signal_safe::Ref ref, uint64_t small_slots = 0);

  signal_safe::Arena* arena_;
  const uint64_t node_bytes_;
  const uint64_t blocks_offset_;
  std::vector<Retired> retired_;
};

// Walks the threads' states, takes those of ended threads out of their buckets and returns their
// memory to the probes. On the writer thread only.
class StateRecycler {
 public:
  explicit StateRecycler(signal_safe::Arena* arena) : arena_(arena) {}
  // `blocks` gets the counts of threads that end (blocks=on); null: blocks are not counted.
  void UseBlocks(BasicBlockCounters* blocks) { blocks_ = blocks; }

  // Removes the states of the threads that ended since the last call, and visits them. They do not
  // change any more and cannot be found, but stay readable until they are retired and freed.
  void RemoveEnded(absl::FunctionRef<void(signal_safe::ThreadState&)> visit);
  // Takes over a removed state that is not needed any more.
  void Retire(signal_safe::ThreadState& state) { retired_.push_back(&state); }
  // Releases the memory of retired states. Samples may still name nodes of states that ended since
  // the rings were drained: so call it before RemoveEnded and after the next draining.
  void FreeRetired();

  // Visits every state that was not removed. Their threads still run, or ended just now.
  void ForEachLive(absl::FunctionRef<void(signal_safe::ThreadState&)> visit);

 private:
  void Unlink(signal_safe::ThreadState& state);

  signal_safe::Arena* arena_;
  BasicBlockCounters* blocks_ = nullptr;
  std::vector<signal_safe::ThreadState*> retired_;
};

}  // namespace jtrace::calls
