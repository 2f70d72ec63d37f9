// What contributes to the chunks of a trace. Called by the writer thread only.
#pragma once

#include <cstdint>

#include "trace.pb.h"

namespace jtrace::writer {

class ChunkSource {
 public:
  virtual ~ChunkSource() = default;
  // Ten times a second or more: empties what is bounded, such as sample rings.
  virtual void Poll(proto::Chunk&) {}
  // Whether Poll left much behind and is to be called again soon.
  virtual bool IsBehind() const { return false; }
  // Once a chunk, just before it is written: adds what changed since the last one. Strings,
  // threads and routines that it refers to must be defined (RecordEncoder) by the time it returns.
  virtual void Seal(uint64_t time_ns, proto::Chunk& chunk) = 0;
  // The file ends, and with it perhaps the recording: between the last Poll and the last Seal.
  virtual void EndFile(bool /*is_last*/, proto::Chunk&) {}
  // Whether Seal should come as often as Poll, because it makes room for the program.
  virtual bool IsUrgent() const { return false; }
  // A new file begins (loop=, dump): what the last one was told has to be told again, and totals
  // start from 0.
  virtual void BeginFile() {}
  // The current file has this size now: after each chunk, and once a new file has begun.
  virtual void Wrote(uint64_t /*file_bytes*/) {}
};

}  // namespace jtrace::writer
