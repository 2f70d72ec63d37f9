// Turns a binary trace's chunks into the record stream: the reader's second pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "postproc/model/import_stats.h"
#include "postproc/model/path_step.h"
#include "postproc/model/record_visitor.h"
#include "postproc/model/trace_model.h"
#include "postproc/reader/chunk_plan.h"
#include "postproc/reader/definitions.h"
#include "postproc/reader/log_cursor.h"
#include "postproc/reader/sample_frames.h"
#include "proto/trace.pb.h"

namespace jtrace::postproc {

// The cost of a move is the difference of the two paths, not their length: programs with deep
// recursion have long paths, all near each other.
class NodePath {
 public:
  static constexpr size_t kNoBound = std::numeric_limits<size_t>::max();

  // The steps from below the thread's root to the node, or to its nearest ancestor that was
  // kept, and below [lost] if its beginning is. Valid until the next move.
  absl::Span<const PathStep> steps() const { return steps_; }

  // Moves to a node of the definitions' trees, or 0, the root. Returns how many steps are those
  // of the path before; none, without moving, if there are more than `most_steps` others.
  std::optional<size_t> MoveTo(uint32_t node, size_t most_steps, Definitions& definitions,
                               TraceModel& model);
  // Moves to an unknown node.
  void MoveToLost(TraceModel& model);

 private:
  void Shorten(size_t size);
  void Append(uint32_t node, PathStep step);

  std::vector<uint32_t> nodes_;  // 0: [lost]
  std::vector<PathStep> steps_;
  absl::flat_hash_map<uint32_t, size_t> size_with_;  // the path's length through the node
  std::vector<uint32_t> below_;                      // reused
};

// Finds them by their difference from the thread's last position: programs that throw deep in a
// stack have many positions, all near each other. Traces made to jump between a deep stack's ends
// are not followed for ever: the logs' size bounds the walk.
class LogPositions {
 public:
  LogPositions(Definitions& definitions, TraceModel& model, ImportStats& stats)
      : definitions_(definitions), model_(model), stats_(stats) {}

  // That many bytes of logs follow.
  void Allow(size_t log_bytes) { room_ += kStepsPerByte * log_bytes; }

  struct Path {
    absl::Span<const PathStep> steps;  // below the thread's root; valid until the next Find
    size_t shared = 0;                 // how many are also in the thread's last position
  };
  // An unknown node, or another thread's, gives [lost]. None if it is too far to walk.
  std::optional<Path> Find(uint32_t thread, uint64_t node);

 private:
  static constexpr size_t kStepsPerByte = 16;
  static constexpr size_t kFreeSteps = 1 << 22;

  Definitions& definitions_;
  TraceModel& model_;
  ImportStats& stats_;
  size_t room_ = kFreeSteps;
  absl::flat_hash_map<uint32_t, NodePath> positions_;  // each thread's last position
};

class ChunkEmitter {
 public:
  ChunkEmitter(Definitions& definitions, TraceModel& model, ImportStats& stats,
               RecordVisitor& visitor);

  // Passes on the chunk's records: events and samples by time, each after those log events of its
  // thread that are not later. `plan` was made from the payload, and is consumed.
  void Emit(const ChunkPayload& payload, ChunkPlan& plan);
  // After all chunks: passes on the trees' totals, in depth-first order, as `node` records, and
  // then those of the hooks and blocks.
  void EmitTrees();

 private:
  // Passes on the thread's logs up to and including `until`.
  void EmitLogs(ThreadLogs& logs, uint32_t thread, int64_t until);
  void EmitCalls(LogCursor& cursor, At at, int64_t until);
  bool EmitRun(ThreadLogs& logs, At at);
  void EmitOneByOne(const ThreadLogs& logs, const LogRun& run, ThreadId thread,
                    RecordVisitor& visitor);
  void EmitHooks(int64_t time);
  void EmitBlocks(int64_t time);
  void EmitSegments(int64_t time);
  void EmitWithoutPath(int64_t time);
  void EmitMark(LogCursor::Mark mark, uint32_t thread, At at);
  void EmitEvent(const proto::Event& event, int64_t time);
  bool EmitDropped(const proto::Event& event, int64_t time);
  void EmitCode(const proto::Event& event, int64_t time);
  bool EmitCall(const proto::Event& event, int64_t time);
  void EmitNotice(const proto::Event& event, int64_t time);
  void AddMethodArgs(const proto::Event& event, std::vector<std::string>& args);
  void AddRequester(const proto::AllocationEvent& details, std::vector<std::string>& args);
  void EmitSample(const proto::Sample& sample, int64_t time);
  void AnchorFrame(absl::Span<const PathStep> path);
  // The path of a node that a sample or a hook's calls hit, and its thread if that is known.
  absl::Span<const PathStep> PathOf(uint32_t node, uint32_t& thread);
  // Announces the thread if this is its first record; times never run back within a thread.
  At MakeAt(uint32_t thread, int64_t time);
  void Unknown(const proto::Event& event);

  Definitions& definitions_;
  TraceModel& model_;
  ImportStats& stats_;
  RecordVisitor& visitor_;
  LogPositions log_positions_;
  SampleFrames sample_frames_;
  absl::flat_hash_map<ThreadId, int64_t> last_times_;
  absl::flat_hash_map<uint32_t, NodePath> sample_paths_;  // by thread: of the last sample
  std::vector<CallRecord> calls_;                         // reused
  std::vector<FrameId> frames_;                           // of one sample; reused
  std::vector<CallSite> places_;                          // of these
  std::vector<CodeRecord::Frame> code_frames_;            // of one code event; reused
  std::vector<CodeRecord::Row> code_rows_;
};

}  // namespace jtrace::postproc
