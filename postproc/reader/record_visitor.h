// The stream of records that both readers make of a trace, and that every later stage takes.
//
// The stream is what the text format says, record by record (FORMATS §1): the text writer turns it
// into a dump and the text reader turns a dump into the same stream again, so that a trace and its
// dump have the same reports by construction. Records of one thread come in the order of their
// times; threads may be interleaved.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "postproc/model/ids.h"

namespace jtrace::postproc {

// When and where: `time` in the trace's unit, never decreasing within a thread. Only notices may
// have no thread.
struct At {
  int64_t time = 0;
  ThreadId thread;
};

enum class CodeKind : uint8_t { kUnknown, kInterpreted, kJitted };

struct SampleRecord {
  bool is_unwind = false;  // 0x41: taken by an instrumented routine, no tick
  int64_t weight = 1;      // ticks
  // The tree path that the sample hit, root first, if the trace holds it; else the thread's open
  // activations count.
  bool has_path = false;
  absl::Span<const RoutineId> path;
  absl::Span<const FrameId> frames;  // root first
};

// Reduced events: what to add to one tree node.
struct NodeCounts {
  std::optional<int64_t> calls;
  std::optional<int64_t> calls_jitted;
  std::optional<int64_t> base;
  std::optional<int64_t> off;
  std::optional<int64_t> min;
  std::optional<int64_t> max;
  std::vector<std::pair<MetricId, int64_t>> metrics;
};

// Spans are valid during the call.
class RecordVisitor {
 public:
  virtual ~RecordVisitor() = default;

  virtual void OnEnter(At at, RoutineId routine, CodeKind kind) = 0;
  virtual void OnExit(At at, RoutineId routine, CodeKind kind) = 0;
  virtual void OnSample(At at, const SampleRecord& sample) = 0;
  // The thread got (on) or left a processor.
  virtual void OnSwitch(At at, bool on) = 0;
  virtual void OnMetric(At at, MetricId metric, int64_t delta) = 0;
  // `path` starts below the thread's root.
  virtual void OnNode(At at, const NodeCounts& counts, absl::Span<const RoutineId> path) = 0;
  // Anything that does not change the call tree: "class-load", "gc-begin", "thread-start", …
  virtual void OnNotice(At at, std::string_view op, absl::Span<const std::string> args) = 0;
};

}  // namespace jtrace::postproc
