// Writes the table of losses into each chunk.
#pragma once

#include <cstdint>

#include "agent/base/losses.h"
#include "agent/trace/chunk_source.h"

namespace jtrace::trace {

class LossSource : public ChunkSource {
 public:
  explicit LossSource(const Losses& losses) : losses_(losses) {}
  void AddChanges(uint64_t time_ns, proto::Chunk& chunk) override;

 private:
  const Losses& losses_;
};

}  // namespace jtrace::trace
