// Forgets the numbers and names of threads that have ended. Writer thread.
#pragma once

#include <cstdint>

#include "agent/jvm/thread_registry.h"
#include "agent/trace/chunk_source.h"

namespace jtrace::samples {

// Comes after the sources of records, which may still name these threads.
class EndedThreadSource : public trace::ChunkSource {
 public:
  explicit EndedThreadSource(jvm::ThreadRegistry& threads) : threads_(threads) {}
  void Seal(uint64_t, proto::Chunk&) override { threads_.ForgetEnded(); }

 private:
  jvm::ThreadRegistry& threads_;
};

}  // namespace jtrace::samples
