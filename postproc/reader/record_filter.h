// Passes on the records that the user selected: of chosen threads, with frames of a chosen scope.
#pragma once

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "postproc/model/record_visitor.h"
#include "postproc/model/trace_model.h"

namespace jtrace::postproc {

// --scope=: all sampled frames, or only the application's.
enum class Scope { kFull, kApp };

// What is left of a trace.
struct Selection {
  // '*' and '?' as in a shell; empty: every thread.
  std::string thread_glob;
  // Keys of labels and globs of their values: only samples that have all of these, and what belongs
  // to no thread, because nothing else has labels. Empty: everything.
  Labels label_globs;
  Scope scope = Scope::kFull;
};

class RecordFilter : public RecordVisitor {
 public:
  // Several visitors get the records in the order given.
  RecordFilter(Selection selection, const TraceModel& model, std::vector<RecordVisitor*> visitors);

  void OnEnter(At at, RoutineId routine, CodeKind kind) override;
  void OnExit(At at, RoutineId routine, CodeKind kind) override;
  void OnCalls(ThreadId thread, absl::Span<const CallRecord> calls) override;
  void OnReducedCalls(ThreadId thread, const ReducedCalls& calls,
                      absl::FunctionRef<void(RecordVisitor&)> one_by_one) override;
  void OnDropped(At at, int64_t events) override;
  void OnPosition(At at, absl::Span<const PathStep> path, size_t shared) override;
  void OnSample(At at, const SampleRecord& sample) override;
  void OnSwitch(At at, bool on) override;
  void OnMetric(At at, MetricId metric, int64_t delta) override;
  void OnNode(At at, const NodeCounts& counts, absl::Span<const PathStep> path,
              size_t shared) override;
  void OnHook(At at, const HookRecord& hook) override;
  void OnCode(At at, const CodeRecord& code) override;
  void OnNotice(At at, std::string_view op, absl::Span<const std::string> args) override;

 private:
  bool WantsThread(At at);
  // Of records other than samples.
  bool Wants(At at) { return selection_.label_globs.empty() && WantsThread(at); }
  bool WantsNotice(At at, std::string_view op);
  bool WantsLabels(LabelsId labels);
  bool HasLabels(const Labels& labels) const;

  const Selection selection_;
  const TraceModel& model_;
  const std::vector<RecordVisitor*> visitors_;
  std::vector<int8_t> wanted_;  // by thread: 0 not yet known, 1 yes, -1 no
  absl::flat_hash_map<LabelsId, bool> wanted_labels_;
  std::vector<FrameId> frames_;   // reused
  std::vector<CallSite> places_;  // the same
};

}  // namespace jtrace::postproc
