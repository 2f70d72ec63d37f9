// Turns a binary trace's chunks into the record stream: the reader's second pass.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "postproc/model/import_stats.h"
#include "postproc/model/record_visitor.h"
#include "postproc/model/trace_model.h"
#include "postproc/reader/chunk_plan.h"
#include "postproc/reader/definitions.h"
#include "postproc/reader/log_cursor.h"
#include "postproc/reader/log_positions.h"
#include "postproc/reader/node_path.h"
#include "postproc/reader/sample_frames.h"
#include "proto/trace.pb.h"

namespace jtrace::postproc {

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
