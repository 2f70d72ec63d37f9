// Walks the threads' states, takes those of ended threads out of their buckets and returns their
// memory to the probes. On the writer thread only.
#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "agent/hot/layout.h"

namespace jtrace {

class BlockCounters;

class StateRecycler {
 public:
  explicit StateRecycler(hot::Arena* arena) : arena_(arena) {}
  // It gets the counts of threads that end (blocks=on).
  void UseBlocks(BlockCounters* blocks) { blocks_ = blocks; }

  // Takes the states of the threads that ended since the last call: they do not change any more and
  // cannot be found, but they and their nodes stay readable until they are retired and freed.
  void TakeEnded(absl::FunctionRef<void(hot::ThreadState&)> visit);
  // A state that was taken is not needed any more.
  void Retire(hot::ThreadState& state) { retired_.push_back(&state); }
  // Releases the memory of retired states. Samples may still name nodes of states that ended since
  // the rings were drained: so call it before TakeEnded and after the next draining.
  void FreeRetired();

  // Calls `visit` for every state that was not taken. Their threads still run, or ended just now.
  void ForEachLive(absl::FunctionRef<void(hot::ThreadState&)> visit);

 private:
  void Unlink(hot::ThreadState& state);

  hot::Arena* arena_;
  BlockCounters* blocks_ = nullptr;
  std::vector<hot::ThreadState*> retired_;
};

}  // namespace jtrace
