// What the trees do not need any more, for the probes to use again.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
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
  void TakeDroppedTables(signal_safe::ThreadState& state);

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
  void TakeEnded(absl::FunctionRef<void(signal_safe::ThreadState&)> visit);
  // A state that was taken is not needed any more.
  void Retire(signal_safe::ThreadState& state) { retired_.push_back(&state); }
  // Releases the memory of retired states. Samples may still name nodes of states that ended since
  // the rings were drained: so call it before TakeEnded and after the next draining.
  void FreeRetired();

  // Calls `visit` for every state that was not taken. Their threads still run, or ended just now.
  void ForEachLive(absl::FunctionRef<void(signal_safe::ThreadState&)> visit);

 private:
  void Unlink(signal_safe::ThreadState& state);

  signal_safe::Arena* arena_;
  BlockCounters* blocks_ = nullptr;
  std::vector<signal_safe::ThreadState*> retired_;
};

// ---- The arena: the memory that the probes write (agent/signal_safe/probe_memory.h)

// Reserves address space for an arena whose trees may use `memory_limit` bytes (0: as much as
// references can reach) and sets up its start. Calls deeper than `max_depth` are folded. Pages
// count as memory only once they are written. Where less is available (an address space limit,
// strict overcommit), reserves less, down to 4 MB; of what a limit leaves, at most half. Never
// unmapped: compiled probes hold its address. Error: ResourceExhausted, one line with the remedy.
absl::StatusOr<signal_safe::Arena*> ReserveArena(uint64_t memory_limit, uint32_t max_depth);

// Sets up the arena's start in zeroed memory of `bytes`, at least signal_safe::kFirstChunk.
signal_safe::Arena* InitializeArena(void* memory, uint64_t bytes, uint32_t max_depth = 1000);

// Bytes allocated as chunks, including recycled ones, but not those of rings (record=log).
uint64_t ArenaBytesUsed(const signal_safe::Arena& arena);

// Bytes of address space that the process may still map: RLIMIT_AS (ulimit -v) less the mapped
// part; UINT64_MAX without a limit. Any thread.
uint64_t AddressSpaceLeft();

// Finds padding in java.lang.Thread objects, where the probes keep the address of the thread's
// state.

// Offset of eight bytes in every java.lang.Thread object that belong to no field, or 0.
//
// On JDK 17 the fields of ThreadLocalRandom in Thread are @Contended: 128 bytes of padding keep
// them away from the other fields. The JVM zeroes them with the object, copies them with it and
// never looks at them, so a thread's state is found there with one load. Later JDKs lay Thread out
// without padding (and -XX:-EnableContended does): they find the state through the thread's id.
// In VMInit; leaves no Java exception pending.
uint64_t FindThreadSpare(jvmtiEnv* jvmti, JNIEnv* jni);

}  // namespace jtrace::calls
