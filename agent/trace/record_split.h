// Splits the records of a chunk that have times (events, samples, logs) into several parts. Writer
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "agent/trace/chunk_parts.h"
#include "trace.pb.h"

namespace jtrace::trace {

// Takes the records in the order in which readers merge those of one chunk: by time, at equal times
// a thread's log before its events before its samples. So each part continues where the previous
// one ended, and together they say the same as the whole. A log may be cut between any two of its
// ops, but not between a mark and its value. Frames are renumbered in each part.
class RecordSplitter {
 public:
  // `whole` keeps what is not listed above.
  RecordSplitter(proto::Chunk& whole, ChunkParts& parts);
  void TakeAll();

 private:
  // The logs of one thread, in their order.
  struct Logs {
    std::vector<const proto::EventLog*> logs;
    size_t next = 0;                  // the log that is being moved
    int op = 0;                       // its next one
    uint64_t time = 0;                // of that op
    proto::EventLog* into = nullptr;  // of the current part; null: none yet
    uint64_t part = 0;                // that `into` is in
    uint64_t last = 0;                // time of the last op in `into`
  };
  struct Item {
    uint64_t time;
    uint32_t thread;
    int event;   // index, or -1
    int sample;  // the same
  };

  void SortRecords();
  void TakeLogs(Logs& logs, uint64_t until);
  // The next op, with its value if it is a mark.
  void TakeOps(Logs& logs);
  static void Step(Logs& logs, int ops);
  static void BeginLog(Logs& logs);
  void TakeSample(proto::Sample& sample);
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
  // By frame of the whole: its number in the part that has it, if that is the current one.
  struct Place {
    uint64_t part = UINT64_MAX;
    uint32_t number = 0;
  };
  std::vector<Place> places_;
};

}  // namespace jtrace::trace
