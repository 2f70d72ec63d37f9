// Everything that a binary trace defines, from all its chunks: the reader's first pass.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "postproc/model/import_stats.h"
#include "postproc/model/record_visitor.h"
#include "postproc/model/trace_model.h"
#include "postproc/reader/agent_blocks.h"
#include "postproc/reader/agent_hooks.h"
#include "postproc/reader/agent_trees.h"
#include "postproc/reader/chunk_payload.h"
#include "postproc/reader/java_names.h"
#include "postproc/reader/native_symbols.h"
#include "postproc/reader/work_budget.h"
#include "proto/trace.pb.h"

namespace jtrace::postproc {

// What a binary trace says about its session, as facts, counts and losses of the trace.
using CodeTotals = absl::btree_map<std::pair<uint32_t, uint32_t>, proto::CodeTotal>;  // by code

using SegmentTotals = absl::btree_map<uint32_t, proto::SegmentTotal>;  // by the name's string

void AddSession(const proto::SessionStart& start, TraceInfo& trace);
void AddEnd(const proto::SessionEnd& end, TraceInfo& trace);
void AddPlanner(const proto::Planner& planner, TraceInfo& trace);
void AddCodeTotals(const CodeTotals& totals, TraceInfo& trace);
// The cost of samples: time in their handler, and their records' bytes in the file.
struct SampleSums {
  proto::SampleCost cost;
  uint64_t records = 0;
  double bytes = 0;
  uint64_t file_bytes = 0;  // of everything
};
void AddSampling(const SampleSums& sums, TraceInfo& trace);
void AddLosses(const std::vector<proto::Loss>& losses, TraceInfo& trace);

class Definitions {
 public:
  // `raw_names` and `read_files` as in ReadOptions. The budget outlives it.
  Definitions(bool raw_names, bool read_files, WorkBudget& budget, TraceModel& model,
              ImportStats& stats);

  // Call for every chunk in its order, then Finish once, then use the rest.
  void AddChunk(const ChunkPayload& payload);
  // The size of the whole file.
  void SetFileBytes(uint64_t bytes) { file_bytes_ = bytes; }
  // The size of a chunk's samples: `payload_bytes` of the chunk are `file_bytes` in the file.
  void AddSampleBytes(const ChunkPayload& payload, uint64_t payload_bytes, uint64_t file_bytes);
  // `trace` is the index of this input among the model's.
  void Finish(uint32_t trace);

  // Whether the session's end was seen, and the traced process; known before Finish.
  bool ended() const { return end_.has_value(); }
  // Whether the chunks have calls, samples or other records of the program.
  bool has_data() const { return has_data_; }
  int64_t pid() const { return start_.has_value() ? start_->pid() : 0; }

  std::string Text(uint32_t string) const;
  // By Routine.id and Method.id; undefined ids get a name that says so.
  RoutineId Routine(uint32_t id) {
    return id < routine_ids_.size() && routine_ids_[id] ? routine_ids_[id] : FindRoutine(id);
  }
  // None for ids that are rare or never defined. Any thread, after Finish.
  RoutineId KnownRoutine(uint32_t id) const {
    return id < routine_ids_.size() ? routine_ids_[id] : RoutineId();
  }
  RoutineId Method(uint32_t id);
  std::string ClassName(uint32_t id) const;
  // By LabelSet.id; 0 and undefined ids: none.
  LabelsId LabelsOf(uint32_t id);
  // By Thread.id; 0 and undefined ids get a separate thread.
  ThreadId Thread(uint32_t id);
  // The content of a thread-start record.
  std::vector<std::string> ThreadArgs(ThreadId id) const;

  AgentTrees& trees() { return trees_; }
  const SegmentTotals& segment_totals() const { return segment_totals_; }
  const AgentHooks& hooks() const { return hooks_; }
  AgentBlocks& blocks() { return blocks_; }
  // Hook.id's name and kind; one that was never defined is counted as a problem.
  HookInfo Hook(uint32_t id);
  AgentHooks::Callers HookCallers(const AgentHooks::Calls& calls);
  // Whether the thread's log may name the node (not 0); if not, that is counted as a problem.
  bool MayStandAt(uint32_t thread, uint64_t node);

  // Samples are one frame each (stack=frame, appframe, pc); known after Finish.
  bool stacks_are_cut() const { return stacks_are_cut_; }

  NativeSymbols& native() { return native_; }
  WorkBudget& budget() { return budget_; }
  uint64_t end_time() const { return end_time_; }

 private:
  static constexpr uint32_t kNoJavaName = UINT32_MAX;
  struct ClassInfo {
    uint32_t name = 0;
    uint32_t loader = 0;
  };
  struct MemberInfo {
    uint32_t class_id = 0;
    uint32_t name = 0;
    uint32_t descriptor = 0;
    proto::Routine::Kind kind = proto::Routine::METHOD;
    proto::Routine::Cost cost = proto::Routine::UNCLASSIFIED;
    uint32_t cycles = 0;
    uint32_t millicycles_per_element = 0;
    uint32_t java_name = kNoJavaName;  // in names_; set by Finish, not of exceptions
    RoutineId routine = {};
  };
  struct ThreadDef {
    std::string name;
    bool renamed = false;
    ThreadInfo info;
    ThreadId id;
  };
  // Stubs are named when all strings are known.
  struct StubEvent {
    uint64_t start = 0;
    uint64_t end = 0;
    uint32_t name = 0;
    int64_t time = 0;
    bool removal = false;
  };

  RoutineId FindRoutine(uint32_t id);
  void NoteData(const ChunkPayload& payload);
  void AddStrings(const proto::Chunk& chunk);
  void AddMembers(const proto::Chunk& chunk);
  void AddThreads(const proto::Chunk& chunk);
  void AddModules(const proto::Chunk& chunk);
  void AddCode(const proto::Event& event);
  void AddNativeCode();
  void NameRoutines();
  void NoteMember(const MemberInfo& member);
  void NameThreads(uint32_t trace);
  std::string UniqueThreadName(const std::string& name);
  void CheckControlSum();
  uint32_t JavaName(const MemberInfo& member);
  std::string RoutineName(const MemberInfo& member) const;
  RoutineId Undefined(std::string_view kind, uint32_t id);
  void NoteUndefined(std::string_view kind, uint64_t id);

  const bool raw_names_;
  WorkBudget& budget_;
  TraceModel& model_;
  ImportStats& stats_;
  JavaNames names_;
  NativeSymbols native_;
  absl::flat_hash_map<uint32_t, std::string> strings_;
  absl::flat_hash_map<uint32_t, ClassInfo> classes_;
  // Ordered, so that names are made in the same order in every run.
  absl::btree_map<uint32_t, MemberInfo> routines_;
  absl::btree_map<uint32_t, MemberInfo> methods_;
  std::vector<RoutineId> routine_ids_;  // by Routine.id, of those below kMaxDenseId
  absl::flat_hash_map<uint32_t, ThreadDef> threads_;
  std::vector<uint32_t> thread_order_;
  StringMap<int> thread_names_;  // by name: the number to try after it next
  AgentTrees trees_;
  AgentHooks hooks_;
  std::vector<proto::MethodHook> method_hooks_;
  AgentBlocks blocks_;
  std::vector<StubEvent> stub_events_;
  std::vector<proto::Module> modules_;
  absl::flat_hash_map<uint32_t, proto::LabelSet> label_sets_;
  absl::flat_hash_map<uint32_t, LabelsId> labels_;  // that a sample has named
  std::optional<proto::SessionStart> start_;
  std::optional<proto::SessionEnd> end_;
  std::vector<proto::Loss> losses_;
  std::optional<proto::Planner> planner_;
  CodeTotals code_totals_;
  SegmentTotals segment_totals_;
  proto::SampleCost sample_cost_;
  uint64_t sample_records_ = 0;
  double sample_bytes_ = 0;  // in the file
  uint64_t file_bytes_ = 0;
  bool stacks_are_cut_ = false;
  uint64_t tree_bytes_ = 0;
  uint64_t end_time_ = 0;
  bool has_log_ = false;
  bool has_data_ = false;
};

// Times of the trace as in the record stream.
int64_t StreamTime(uint64_t time_ns);

// A count of the trace, limited to the same bounds.
inline int64_t StreamCount(uint64_t value) { return StreamTime(value); }

}  // namespace jtrace::postproc
