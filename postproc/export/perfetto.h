// A log of entries and exits as a timeline: a track for each thread and one for collections.
#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "postproc/export/trace_events.h"
#include "postproc/report/record_writer.h"
#include "postproc/report/report.h"
#include "postproc/samples/segment_log.h"

namespace jtrace::postproc {

// Memory depends on the threads, their open activations and the names. Rejects traces without
// entries and exits, or whose entries and exits have no times.
class PerfettoWriter : public RecordWriter {
 public:
  PerfettoWriter(const TraceModel& model, const ReportOptions& options, std::ostream& out)
      : model_(model), root_(options.root), events_(model, out) {}

  void OnEnter(At at, RoutineId routine, CodeKind kind) override;
  void OnExit(At at, RoutineId routine, CodeKind kind) override;
  void OnDropped(At at, int64_t events) override;
  void OnPosition(At at, absl::Span<const PathStep> path, size_t shared) override;
  void OnSample(At at, const SampleRecord& sample) override;
  void OnSwitch(At at, bool on) override;
  void OnMetric(At at, MetricId metric, int64_t delta) override;
  void OnNotice(At at, std::string_view op, absl::Span<const std::string> args) override;
  absl::Status Finish() override;

 private:
  struct Open {
    RoutineId routine;
    bool shown = false;  // below --root
  };
  struct Thread {
    bool known = false;
    Track track;
    Track segments;  // tid 0: there were none yet
    uint32_t trace = 0;
    std::vector<Open> open;
    absl::flat_hash_map<RoutineId, uint32_t> open_of;  // how many of them are a routine's
    bool off = false;                                  // the thread is off the processors, and
    bool off_shown = false;                            // a slice shows it
    int64_t last_change = 0;                           // time of its last record except samples
  };
  struct Process {
    int64_t pid = 0;
    Track collections;
    bool has_collections = false;
    bool collecting = false;
    std::string cause;  // JSON
    int64_t last_time = 0;
    std::map<MetricId, int64_t> metrics;  // totals so far
  };

  Thread& ThreadOf(At at);
  Process& ProcessOf(uint32_t trace, int64_t time);
  int64_t FreeTid(int64_t pid, int64_t wanted);
  bool IsRoot(RoutineId routine);
  void Push(Thread& thread, int64_t time, RoutineId routine, std::string_view category);
  void PopTo(Thread& thread, int64_t time, size_t depth);
  void CloseAll(Thread& thread);
  void HideOff(Thread& thread, int64_t time);
  void ShowOff(Thread& thread, int64_t time);
  void OnSegment(ThreadId id, const SegmentPairs::Ended& ended);
  void OnCollection(At at, bool begins, absl::Span<const std::string> args);
  std::string_view Name(RoutineId routine);
  std::string_view Text(FrameId frame);
  void Commit();

  const TraceModel& model_;
  const std::string root_;
  TraceEvents events_;
  std::vector<Thread> threads_;     // by ThreadId
  std::vector<Process> processes_;  // by trace
  std::set<int64_t> pids_;          // taken
  std::set<std::pair<int64_t, int64_t>> tids_;
  std::vector<std::string> names_;   // JSON, by routine
  std::vector<std::string> frames_;  // JSON without quotes, by frame
  std::vector<int8_t> is_root_;      // by routine: 0 not yet known, 1 yes, -1 no
  bool root_found_ = false;
  SegmentPairs segments_;
  std::string_view why_not_;  // there is no timeline; empty: there is one, as far as is known
};

}  // namespace jtrace::postproc
