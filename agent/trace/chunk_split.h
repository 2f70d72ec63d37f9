// Splits a chunk that is too large for one frame into parts. On the thread that writes the trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "trace.pb.h"

namespace jtrace::trace {

// Collects records in a part, and writes the part when it is full.
class ChunkParts {
 public:
  using Write = absl::FunctionRef<void(proto::Chunk)>;

  // Parts have at most about `limit` bytes. A larger record gets its own part, or is left out if it
  // has more than `most` bytes. `write` is called with each part.
  ChunkParts(size_t limit, size_t most, Write write) : limit_(limit), most_(most), write_(write) {}
  ChunkParts(const ChunkParts&) = delete;
  ChunkParts& operator=(const ChunkParts&) = delete;

  // Returns the part for a record of that many bytes; null: it is too large and left out.
  proto::Chunk* For(size_t bytes) {
    if (bytes > most_) {
      ++left_out_;
      return nullptr;
    }
    if (!HasRoom(bytes)) Flush();
    bytes_ += bytes;
    return &part_;
  }
  // Whether the record fits into the current part.
  bool HasRoom(size_t bytes) const { return bytes_ == 0 || bytes_ + bytes <= limit_; }
  // The number of the current part. It changes with each new part.
  uint64_t number() const { return number_; }
  size_t limit() const { return limit_; }
  uint64_t left_out() const { return left_out_; }

  void Flush() {
    write_(std::move(part_));
    part_ = proto::Chunk();
    bytes_ = 0;
    ++number_;
  }

 private:
  const size_t limit_;
  const size_t most_;
  const Write write_;
  proto::Chunk part_;
  size_t bytes_ = 0;
  uint64_t number_ = 0;
  uint64_t left_out_ = 0;
};

// The most bytes that a field of a message takes besides its content: its number and its length.
inline constexpr size_t kFieldHeader = 8;

// Attaching to a large JVM describes all its classes and compiled code at once, a program may make
// millions of call paths within a second, and a fast program makes long logs. Everything that a
// record names is defined in its own part or in an earlier one, and the parts together say the same
// as the whole (proto/FORMAT.md, "Parts"). One part is in memory in addition to the whole.
class ChunkSplitter {
 public:
  // Parts have at most about `limit` bytes. A single record with more than `most` is left out.
  ChunkSplitter(size_t limit, size_t most) : limit_(limit), most_(most) {}

  // Whether the chunk need not be split. Computes the sizes that its messages keep (GetCachedSize).
  bool Fits(const proto::Chunk& whole) const { return whole.ByteSizeLong() <= limit_; }

  // Calls `write` with each part, at least once.
  void Split(proto::Chunk whole, ChunkParts::Write write);

 private:
  const size_t limit_;
  const size_t most_;
  uint64_t left_out_ = 0;  // records, in all chunks so far
};

// Splits the records of a chunk that have times (events, samples, logs) into several parts.
// Takes the records in the order in which readers merge those of one chunk: by time, at equal times
// a thread's log before its events before its samples. So each part continues where the previous
// one ended, and together they say the same as the whole. A log may be cut between any two of its
// ops, but not between a mark and its value. Frames are renumbered in each part.
class RecordSplitter {
 public:
  // Takes these records and the samples' frames out of `whole`.
  RecordSplitter(proto::Chunk& whole, ChunkParts& parts);
  void MoveAll();

 private:
  // The logs of one thread, in their order.
  struct Logs {
    std::vector<const proto::EventLog*> logs;
    size_t next = 0;                  // index of the log that is being moved
    int op = 0;                       // index of its next op
    uint64_t time = 0;                // of that op
    proto::EventLog* into = nullptr;  // the log that is filled; null: it is not begun
    uint64_t part = 0;                // number of the part that has `into`
    uint64_t last = 0;                // time of the last op in `into`
  };
  struct Item {
    uint64_t time;
    uint32_t thread;
    int event;   // index in events_, or -1
    int sample;  // index in samples_, or -1
  };

  void SortRecords();
  void MoveLogs(Logs& logs, uint64_t until);
  // Moves the next op, with its value if it is a mark.
  void MoveOps(Logs& logs);
  static void Step(Logs& logs, int ops);
  static void BeginLog(Logs& logs);
  void MoveSample(proto::Sample& sample);
  size_t BytesOfNewFrames(const proto::Sample& sample) const;
  uint32_t FrameInPart(uint32_t frame, proto::Chunk& part);

  ChunkParts& parts_;
  google::protobuf::RepeatedPtrField<proto::Event> events_;
  google::protobuf::RepeatedPtrField<proto::Sample> samples_;
  google::protobuf::RepeatedPtrField<proto::Frame> frames_;
  google::protobuf::RepeatedPtrField<proto::EventLog> all_logs_;
  std::vector<Item> items_;
  absl::flat_hash_map<uint32_t, Logs> logs_;  // by thread
  std::vector<uint32_t> log_threads_;         // in the order of their first logs
  // The last part that got a frame, and the frame's number there.
  struct MovedFrame {
    uint64_t part = UINT64_MAX;
    uint32_t number = 0;
  };
  std::vector<MovedFrame> moved_frames_;
};

// Splits a TreeDelta that is too large for one part of a chunk.
// Moves the tables of a TreeDelta row by row, in the order that a reader needs: nodes before the
// rows that name them.
class TreeSplitter {
 public:
  explicit TreeSplitter(ChunkParts& parts) : parts_(parts) {}

  // Moves the delta into the parts, as a whole if there is room.
  void Take(proto::TreeDelta& whole);

 private:
  // Encodes a column again for the current delta. Sums of the differences read and written so far.
  struct Coder {
    uint32_t read = 0;
    uint32_t written = 0;
    // Returns the same number as a difference from the last one written to the current delta.
    int32_t Next(int32_t difference);
  };

  void MoveNewNodes();
  void MovePruned();
  void MoveCounts();
  void MoveRoutines();
  void MoveMetric(const proto::NodeMetric& metric);
  // Returns the delta for a row of that many bytes; null: the row is too large for a part.
  proto::TreeDelta* Row(size_t bytes);

  ChunkParts& parts_;
  const proto::TreeDelta* whole_ = nullptr;
  proto::TreeDelta* into_ = nullptr;  // the delta that is filled; null: it is not begun
  proto::NodeMetric* metric_ = nullptr;
  uint64_t part_ = 0;  // number of the part that has into_
  Coder coder_;        // of the table that is being moved
};

}  // namespace jtrace::trace
