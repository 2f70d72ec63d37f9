// A source of records for the chunks of a trace. Called by the writer thread only.
#pragma once

#include <cstdint>

#include "trace.pb.h"

namespace jtrace::trace {

class ChunkSource {
 public:
  virtual ~ChunkSource() = default;
  // Ten times a second or more: empties bounded buffers, such as sample rings.
  virtual void Poll(proto::Chunk&) {}
  // Whether Poll left much unread and must be called again soon.
  virtual bool IsBehind() const { return false; }
  // Once a chunk, just before it is written: adds what changed since the last one. Strings,
  // threads and routines that it refers to must be defined (RecordEncoder) by the time it returns.
  virtual void Seal(uint64_t time_ns, proto::Chunk& chunk) = 0;
  // All that is known is to be in the file after the next Seal, because somebody reads it now.
  virtual void Flush() {}
  // The file ends, and with it perhaps the recording: between the last Poll and the last Seal.
  virtual void EndFile(bool /*is_last*/, proto::Chunk&) {}
  // Whether Seal should come as often as Poll, because it makes room for the program.
  virtual bool IsUrgent() const { return false; }
  // A new file begins (loop=, dump): definitions must be repeated, and totals start from 0.
  virtual void BeginFile() {}
  // A chunk, or a part of one, is written: large records may be taken out and used again.
  virtual void Recycle(proto::Chunk&) {}
  // Reports the current file's size: after each chunk, and after a new file has begun.
  virtual void Wrote(uint64_t /*file_bytes*/) {}
};

// Numbers of a row as differences, which compress to a byte each (proto/FORMAT.md, "Trees").
class DeltaCoder {
 public:
  int32_t Next(uint32_t value) {
    const auto delta = static_cast<int32_t>(value - last_);
    last_ = value;
    return delta;
  }

 private:
  uint32_t last_ = 0;
};

}  // namespace jtrace::trace
