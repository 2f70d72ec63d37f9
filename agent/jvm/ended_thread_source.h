// Forgets the numbers and names of threads that have ended, once a chunk; a source that adds
// nothing to the trace. Writer thread.
#pragma once

#include <cstdint>

#include "agent/jvm/thread_registry.h"
#include "agent/trace/chunk_source.h"

namespace jtrace::jvm {

// Comes after the sources of records, which may still name these threads.
class EndedThreadSource : public trace::ChunkSource {
 public:
  explicit EndedThreadSource(ThreadRegistry& threads) : threads_(threads) {}
  void AddChanges(uint64_t, proto::Chunk&) override { threads_.ForgetEnded(); }

 private:
  ThreadRegistry& threads_;
};

}  // namespace jtrace::jvm
