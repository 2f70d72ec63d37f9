// Splits a chunk that is too large for one frame. Writer thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/trace/chunk_parts.h"
#include "trace.pb.h"

namespace jtrace::trace {

// Attaching to a large JVM describes all its classes and compiled code at once, a program may make
// millions of call paths within a second, and a fast program makes long logs. Everything that a
// record names is defined in its own part or in an earlier one, and the parts together say the same
// as the whole (proto/FORMAT.md, "Parts"). One part is in memory in addition to the whole.
class ChunkSplitter {
 public:
  // Parts have at most about `limit` bytes. A single record with more than `most` is left out.
  ChunkSplitter(size_t limit, size_t most) : limit_(limit), most_(most) {}

  // Whether the chunk need not be split. Its messages' sizes are known then.
  bool Fits(const proto::Chunk& whole) const { return whole.ByteSizeLong() <= limit_; }

  // `write` is called once or more.
  void Split(proto::Chunk whole, ChunkParts::Write write);

 private:
  const size_t limit_;
  const size_t most_;
  uint64_t left_out_ = 0;  // records, in all chunks so far
};

}  // namespace jtrace::trace
