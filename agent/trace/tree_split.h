// Splits a TreeDelta that is too large for one part of a chunk. Writer thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/trace/chunk_parts.h"
#include "trace.pb.h"

namespace jtrace::trace {

// Moves the tables of a TreeDelta row by row, in the order that a reader needs: nodes before the
// rows that name them.
class TreeSplitter {
 public:
  explicit TreeSplitter(ChunkParts& parts) : parts_(parts) {}

  // Moves the delta into the parts, as a whole if there is room.
  void Take(proto::TreeDelta& whole);

 private:
  // Sums of a column of differences: those read, and those written to the current delta.
  struct Coder {
    uint32_t read = 0;
    uint32_t written = 0;
    // The same number as a difference from the last one written to the current delta.
    int32_t Next(int32_t difference);
  };

  void TakeNewNodes();
  void TakePruned();
  void TakeCounts();
  void TakeRoutines();
  void TakeMetric(const proto::NodeMetric& metric);
  // The delta for a row of so many bytes; null: none.
  proto::TreeDelta* Row(size_t bytes);

  ChunkParts& parts_;
  const proto::TreeDelta* whole_ = nullptr;
  proto::TreeDelta* into_ = nullptr;  // of the current part; null: none yet
  proto::NodeMetric* metric_ = nullptr;
  uint64_t part_ = 0;  // that into_ is in
  Coder coder_;        // of the table being taken
};

}  // namespace jtrace::trace
