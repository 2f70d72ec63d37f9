// Memory that the trees do not need any more, for the probes to use again.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "agent/signal_safe/probe_memory.h"

namespace jtrace::calls {

class BlockCounters;

// Returns a chunk to which nothing refers any more to the probes, zeroed. On the writer thread.
void FreeChunk(signal_safe::Arena* arena, signal_safe::Chunk& chunk);

// Returns nodes that were cut off, and slots and tables that were outgrown, to the threads they
// belong to, as memory for nodes. On the writer thread only.
class NodeRecycler {
 public:
  // `node_bytes`: including the data that follows each node. `blocks_offset`: of
  // signal_safe::NodeBlocks in it; 0: there are none.
  NodeRecycler(signal_safe::Arena* arena, uint64_t node_bytes, uint64_t blocks_offset)
      : arena_(arena), node_bytes_(node_bytes), blocks_offset_(blocks_offset) {}

  // Out of the thread's list, though samples that are not read yet may name it.
  void Retire(signal_safe::ThreadState& state, signal_safe::Ref node) {
    retired_.push_back({&state, node});
  }
  // Once those samples are read.
  void FreeRetired();
  // Frees the slots and tables that the thread has dropped.
  void FreeDroppedTables(signal_safe::ThreadState& state);

 private:
  struct Retired {
    signal_safe::ThreadState* state;
    signal_safe::Ref node;
  };
  // The memory in which the node's children were found, of so many bytes without a table.
  void FreeSlots(signal_safe::ThreadState& state, const signal_safe::Node& node, uint64_t bytes);
  // Counters of blocks outside of it.
  void FreeBlocks(signal_safe::ThreadState& state, const signal_safe::Node& node);
  uint64_t TableBytes(signal_safe::Ref table) const;
  void FreeMemory(signal_safe::ThreadState& state, signal_safe::Ref memory, uint64_t bytes);
  // `few_slots`: those of the node that was there, which share a granule, stay for the thread to
  // free; 0: there are none.
  void FreeOne(signal_safe::ThreadState& state, signal_safe::Ref ref, uint64_t few_slots = 0);

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
  // It gets the counts of threads that end (blocks=on).
  void UseBlocks(BlockCounters* blocks) { blocks_ = blocks; }

  // Takes the states of the threads that ended since the last call: they do not change any more and
  // cannot be found, but they and their nodes stay readable until they are retired and freed.
  void RemoveEnded(absl::FunctionRef<void(signal_safe::ThreadState&)> visit);
  // A state that was taken is not needed any more.
  void Retire(signal_safe::ThreadState& state) { retired_.push_back(&state); }
  // Releases the memory of retired states. Samples may still name nodes of states that ended since
  // the rings were drained: so call it before RemoveEnded and after the next draining.
  void FreeRetired();

  // Calls `visit` for every state that was not taken. Their threads still run, or ended just now.
  void ForEachLive(absl::FunctionRef<void(signal_safe::ThreadState&)> visit);

 private:
  void Unlink(signal_safe::ThreadState& state);

  signal_safe::Arena* arena_;
  BlockCounters* blocks_ = nullptr;
  std::vector<signal_safe::ThreadState*> retired_;
};

}  // namespace jtrace::calls
