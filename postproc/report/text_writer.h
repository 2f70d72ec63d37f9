// Writes the record stream as a text trace: the `dump` report (FORMATS §1).
#pragma once

#include <memory>
#include <ostream>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "postproc/model/trace_model.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

class TextWriter : public RecordWriter {
 public:
  TextWriter(const TraceModel& model, std::ostream& out) : model_(model), out_(out) {}

  void OnEnter(At at, RoutineId routine, CodeKind kind) override;
  void OnExit(At at, RoutineId routine, CodeKind kind) override;
  void OnDropped(At at, int64_t events) override;
  void OnPosition(At at, absl::Span<const PathStep> path, size_t shared) override;
  void OnSample(At at, const SampleRecord& sample) override;
  void OnSwitch(At at, bool on) override;
  void OnMetric(At at, MetricId metric, int64_t delta) override;
  void OnNode(At at, const NodeCounts& counts, absl::Span<const PathStep> path, size_t) override;
  void OnHook(At at, const HookRecord& hook) override;
  void OnCode(At at, const CodeRecord& code) override;
  void OnNotice(At at, std::string_view op, absl::Span<const std::string> args) override;

  // Writes the header if there was no record, and the rest of the buffer.
  absl::Status Finish() override;

 private:
  // The header is written with the first record: by then the reader knows what the trace says about
  // itself.
  void WriteHeader();
  void WriteRoutines();
  void WriteMeta(std::string_view kind, std::initializer_list<std::string_view> fields);
  void Begin(At at, std::string_view op);
  void Field(std::string_view text);
  void RoutineField(RoutineId routine);
  void PathFields(absl::Span<const PathStep> path);
  // If they are others than those of the thread's last sample.
  void LabelsLine(At at, LabelsId labels);
  void End();

  const TraceModel& model_;
  std::ostream& out_;
  std::string line_;
  bool header_written_ = false;
  std::vector<std::string> event_fields_;  // escaped text by routine; empty: not yet made
  std::vector<std::string> frame_fields_;  // by frame
  absl::flat_hash_map<ThreadId, LabelsId> last_labels_;
};

}  // namespace jtrace::postproc
