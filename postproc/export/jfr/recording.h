// --report=jfr: the trace's samples as a recording of Flight Recorder, for JDK Mission Control,
// `jfr`, and whatever reads its files.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "postproc/export/jfr/constants.h"
#include "postproc/report/report.h"

namespace jtrace::postproc::jfr {

// Memory is the distinct stacks, and 24 bytes for each sample. Rejects traces without samples, or
// whose samples have no times.
class RecordingWriter : public RecordWriter {
 public:
  // `root`: only samples that passed through this routine; empty: all.
  RecordingWriter(const TraceModel& model, std::string root, std::ostream& out)
      : model_(model), root_(std::move(root)), out_(out), constants_(model) {}

  void OnCalls(ThreadId, absl::Span<const CallRecord>) override {}
  void OnReducedCalls(ThreadId, const ReducedCalls&,
                      absl::FunctionRef<void(RecordVisitor&)>) override {}
  void OnSample(At at, const SampleRecord& sample) override;
  void OnNotice(At at, std::string_view op, absl::Span<const std::string> args) override;
  absl::Status Finish() override;

 private:
  struct Event {
    int64_t time = 0;  // in the trace's unit, from its start
    ThreadId thread;
    uint32_t stack = 0;
    uint32_t type : 24 = 0;
    uint32_t state : 8 = 0;
    uint32_t count = 1;  // events to write
  };
  static_assert(sizeof(Event) == 24);

  bool IsRoot(RoutineId routine);
  bool IsJavaCode(const SampleRecord& sample) const;
  int64_t UnixNanos(ThreadId thread, int64_t time) const;
  void FindTimes();
  void AppendSample(const Event& event);
  void AppendThread(const Event& event);
  void AppendJvm(const TraceInfo& trace);
  void AppendSettings();
  void Append(const std::string& fields);
  void Put(std::string_view bytes);
  // Events, what they refer to, and the types of both.
  void PutBody();
  void Write();

  const TraceModel& model_;
  const std::string root_;
  std::ostream& out_;
  Constants constants_;
  std::vector<std::optional<bool>> is_root_;  // by routine, as far as known
  std::vector<Event> events_;
  int64_t samples_ = 0;  // events to write of these
  bool too_many_ = false;
  std::vector<int64_t> starts_;  // of each trace's clock, nanoseconds since 1970
  int64_t begin_ = 0;            // of the first event and the last one
  int64_t end_ = 0;
  bool is_writing_ = false;  // otherwise the bytes are only counted
  uint64_t at_ = 0;          // in the file
  uint64_t constants_at_ = 0;
  uint64_t metadata_at_ = 0;
};

}  // namespace jtrace::postproc::jfr
