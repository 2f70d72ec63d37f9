// Releases threads that have ended.
#pragma once

#include <cstdint>

#include "agent/jvm/thread_registry.h"
#include "agent/trace/chunk_source.h"

namespace jtrace::samples {

// Last of the sources: the others may still need the threads.
class EndedThreadSource : public trace::ChunkSource {
 public:
  explicit EndedThreadSource(jvm::ThreadRegistry& threads) : threads_(threads) {}
  void Seal(uint64_t, proto::Chunk&) override { threads_.ForgetEnded(); }

 private:
  jvm::ThreadRegistry& threads_;
};

}  // namespace jtrace::samples
