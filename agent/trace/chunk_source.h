// A source of records for the chunks of a trace. The writer thread calls it, and the thread of a
// stop once the writer thread has ended.
#pragma once

#include <cstdint>

#include "trace.pb.h"

namespace jtrace::trace {

class ChunkSource {
 public:
  virtual ~ChunkSource() = default;
  // Empties bounded buffers, such as sample rings. Called ten times a second or more.
  virtual void Poll(proto::Chunk&) {}
  // Whether Poll left much unread and must be called again at once.
  virtual bool IsBehind() const { return false; }
  // Adds what changed since the last chunk, just before the chunk is written. Strings, threads and
  // routines that it names must be defined (RecordEncoder) by the time it returns.
  virtual void AddChanges(uint64_t time_ns, proto::Chunk& chunk) = 0;
  // Makes the next AddChanges add everything that is known, because somebody reads the file after
  // it.
  virtual void Flush() {}
  // Called between the last Poll and the last AddChanges of a file. `is_last`: the recording ends,
  // too.
  virtual void EndFile(bool /*is_last*/, proto::Chunk&) {}
  // Whether AddChanges should come ten times a second, because it frees memory that is short.
  virtual bool IsUrgent() const { return false; }
  // Begins a new file (loop=, dump): definitions must be repeated, and totals start from 0.
  virtual void BeginFile() {}
  // May take large records out of a written chunk, or a part of one, to use their memory again.
  virtual void Recycle(proto::Chunk&) {}
  // Reports the current file's size: after each chunk, and after a new file has begun.
  virtual void OnFileSizeChanged(uint64_t /*file_bytes*/) {}
};

// Encodes a column of numbers as differences, most of which take a byte (proto/FORMAT.md, "Trees").
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
