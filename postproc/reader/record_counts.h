// Counts the records of a trace by their codes (S3.1).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "postproc/model/record_visitor.h"
#include "postproc/reader/event_codes.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {

class RecordCounts : public RecordVisitor {
 public:
  void OnEnter(At, RoutineId, CodeKind kind) override { ++calls_[Index(kind)].begins; }
  void OnExit(At, RoutineId, CodeKind kind) override { ++calls_[Index(kind)].ends; }
  void OnCalls(ThreadId thread, absl::Span<const CallRecord> calls) override;
  void OnReducedCalls(ThreadId thread, const ReducedCalls& calls,
                      absl::FunctionRef<void(RecordVisitor&)> one_by_one) override;
  void OnDropped(At, int64_t events) override;
  void OnSample(At, const SampleRecord& sample) override;
  void OnSwitch(At, bool on) override { Count(on ? "on" : "off"); }
  void OnMetric(At, MetricId, int64_t) override { Count("metric"); }
  void OnNode(At, const NodeCounts&, absl::Span<const PathStep>, size_t) override { Count("node"); }
  void OnHook(At, const HookRecord&) override { Count("hook"); }
  void OnCode(At, const CodeRecord& code) override;
  void OnNotice(At, std::string_view op, absl::Span<const std::string> args) override;

  // A row for each code that has records, in the order of the table of codes. Codes that text
  // traces do not distinguish (threads with and without a name) count together, as the first of
  // them. Interrupts have a row for each level.
  struct Row {
    const EventCode* code = nullptr;
    uint32_t minor = 0;  // of the begin
    int64_t begins = 0;
    int64_t ends = 0;
  };
  std::vector<Row> Rows() const;
  // Entries and exits that the agent left out of logs.
  int64_t dropped_events() const { return dropped_events_; }

 private:
  struct Counts {
    int64_t begins = 0;
    int64_t ends = 0;
  };
  static size_t Index(CodeKind kind) { return static_cast<size_t>(kind); }
  void Count(std::string_view op);

  std::array<Counts, 3> calls_{};  // by CodeKind
  StringMap<int64_t> ops_;
  std::map<uint32_t, Counts> interrupts_;  // by level
  int64_t dropped_events_ = 0;
};

}  // namespace jtrace::postproc
