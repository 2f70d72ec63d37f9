// The stream of records that both readers make from a trace, and that every later stage receives.
//
// The stream is the content of the text format, record by record (FORMATS §1): the text writer
// turns it into a dump and the text reader turns a dump into the same stream again, so that a trace
// and its dump have the same reports by construction. Records of one thread are in the order of
// their times; threads may be interleaved.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "postproc/model/ids.h"
#include "postproc/model/path_step.h"
#include "postproc/model/trace_model.h"

namespace jtrace::postproc {

// The tree of the run, with the values that each node got in it. Activations that were open when it
// began are nodes without a parent, the innermost first. The run assumes that its exits end them
// one after the other; the owner of the tree checks that by `outside` and their routines. If it
// holds, the run changes the tree as its single calls would.
struct ReducedCalls {
  static constexpr uint32_t kNoNode = std::numeric_limits<uint32_t>::max();

  // In the order of their first entry; fills a cache line.
  struct alignas(64) Node {
    RoutineId routine;                // of an outside node: of the exit that ended it, if one did
    uint32_t parent = kNoNode;        // index of a node before it; kNoNode: an outside node
    uint32_t recent_child = kNoNode;  // guesses at the next call, like those of the CallTree
    uint32_t follower = kNoNode;
    int64_t calls = 0;
    int64_t calls_jitted = 0;
    int64_t base = 0;
    // Of the activations that began and ended in the run; min > max if there are none.
    int64_t min_base = std::numeric_limits<int64_t>::max();
    int64_t max_base = std::numeric_limits<int64_t>::min();
  };
  // An activation open at the end.
  struct Open {
    uint32_t node = 0;
    int64_t base = 0;  // so far, in the run
  };

  int64_t first_time = 0;
  int64_t last_time = 0;
  int64_t enters[2] = {};  // interpreted, jitted
  int64_t exits[2] = {};
  std::vector<Node> nodes;
  // Outside nodes, innermost first: all but the last were ended.
  std::vector<uint32_t> outside;
  std::vector<Open> open;  // that began in the run, outermost first

  int64_t calls() const { return enters[0] + enters[1] + exits[0] + exits[1]; }
};

// When and where: `time` in the trace's unit, never decreasing within a thread. Only notices may
// lack a thread.
struct At {
  int64_t time = 0;
  ThreadId thread;
};

// How an activation ran.
enum class CodeKind : uint8_t { kUnknown, kInterpreted, kJitted };

// An entry or exit of a run of them.
struct CallRecord {
  int64_t time = 0;
  RoutineId routine;
  bool is_exit = false;
  CodeKind kind = CodeKind::kUnknown;
};

// The state of a sampled thread.
enum class SampleState : uint8_t {
  kRunning,
  kUnknown,
  kMonitor,
  kObjectWait,
  kParked,
  kSleeping,
  kWaiting,
  kBlocked,
};
inline constexpr size_t kSampleStates = 8;
// "running", "monitor", "object-wait", …
std::string_view SampleStateName(SampleState state);
std::optional<SampleState> ParseSampleState(std::string_view name);

// A sample of a thread's stack (0x40), or an unwind at a routine's entry (0x41).
struct SampleRecord {
  bool is_unwind = false;  // 0x41: taken by an instrumented routine, no tick
  int64_t weight = 1;      // ticks
  SampleState state = SampleState::kRunning;
  // The class of the object that a waiting thread waits on; none: unknown.
  ClassId blocker;
  LabelsId labels;  // of the thread (JTrace.label)
  // The tree path that the sample hit, root first, if the trace has it; else the thread's open
  // activations count.
  bool has_path = false;
  absl::Span<const PathStep> path;
  absl::Span<const FrameId> frames;  // root first
  // The bytecode index in the last of them, if it is a Java frame whose place is known.
  std::optional<uint16_t> bci;
  // Where each frame was in its routine: the next one was called from there. Empty: unknown.
  absl::Span<const CallSite> places;
};

// Compiled code that was loaded or unloaded, or a list of what it has inlined.
struct CodeRecord {
  enum class Op : uint8_t { kLoad, kUnload, kInlining };
  // The call at bytecode index `bci` of a routine; -1: unknown.
  struct Frame {
    RoutineId routine;
    int32_t bci = 0;
    uint32_t bytecodes = 0;  // of the routine, in bytes; only where the record has it first
  };
  // The activations at a place of the code, innermost first.
  struct Row {
    uint32_t pc = 0;
    absl::Span<const Frame> frames;
  };
  Op op = Op::kLoad;
  RoutineId routine;
  uint64_t address = 0;
  uint64_t size = 0;
  // The method's number, which distinguishes methods of the same name; 0: unknown. Valid for one
  // trace only.
  uint32_t method = 0;
  // kLoad only: as CodeEvent has them.
  uint32_t level = 0;
  bool native_wrapper = false;
  uint32_t osr_entry = 0;
  uint32_t bytecodes = 0;
  uint32_t modifiers = 0;
  absl::Span<const Row> rows;  // kInlining only
};

// The counters of one version of a routine's code at one node (blocks=paths).
struct NodeBlocks {
  uint32_t code = 0;  // its number in the trace: "path=" of a "blocks" notice
  int64_t calls = 0;  // activations that began here, if no counter has them
  // Counts that are not 0, by the counter's place in the notice.
  std::vector<std::pair<uint32_t, int64_t>> counts;
  // Activations that had begun the instruction at a bci, and not left it.
  std::vector<std::pair<uint32_t, int64_t>> open;

  bool empty() const { return calls == 0 && counts.empty() && open.empty(); }
};

using NodeMetrics = std::vector<std::pair<MetricId, int64_t>>;

// Reduced events: the values to add to one tree node.
struct NodeCounts {
  std::optional<int64_t> calls;
  std::optional<int64_t> calls_jitted;
  std::optional<int64_t> base;
  std::optional<int64_t> off;
  std::optional<int64_t> min;
  std::optional<int64_t> max;
  NodeMetrics metrics;
  std::vector<NodeBlocks> blocks;
};

// The sums of calls of native functions.
struct HookSums {
  int64_t calls = 0;
  // Calls whose return was seen, and their times in nanoseconds; all 0 if there are none.
  int64_t timed = 0;
  int64_t total_ns = 0;
  int64_t min_ns = 0;
  int64_t max_ns = 0;

  void Add(const HookSums& other);
};

// Calls through a hook in native code, of one thread, from one place and one caller.
struct HookRecord {
  FrameId hook;
  HookKind kind = HookKind::kCount;
  FrameId caller;  // none: unknown; of a tail call the function that jumped
  HookSums sums;
  // The thread's path at the call, from below its root; empty: at its root, or not known.
  absl::Span<const PathStep> path;
  // Hooked functions that continued by a jump, up to this one, the outermost first.
  absl::Span<const FrameId> jumped;
};

// The ops of notices about counters of blocks (BlockLog).
inline bool IsOfBlocks(std::string_view op) { return op == "class-code" || op == "blocks"; }

// The op of notices about segments that are counted and have no record (SegmentLog).
inline constexpr std::string_view kSegmentsOp = "segments";

// A stage overrides what it needs. Spans are valid during the call.
class RecordVisitor {
 public:
  virtual ~RecordVisitor() = default;

  virtual void OnEnter(At, RoutineId, CodeKind) {}
  virtual void OnExit(At, RoutineId, CodeKind) {}
  // Successive entries and exits of one thread: for logs, which have hundreds of millions of
  // events. Means OnEnter or OnExit for each of them.
  virtual void OnCalls(ThreadId thread, absl::Span<const CallRecord> calls);
  // The same, already summed up; `one_by_one` passes them to OnCalls of the given visitor.
  virtual void OnReducedCalls(ThreadId, const ReducedCalls&,
                              absl::FunctionRef<void(RecordVisitor&)> one_by_one) {
    one_by_one(*this);
  }
  // This many of the thread's events were left out since its last enter, exit, off or on; the same
  // activations are open as before.
  virtual void OnDropped(At, int64_t /*events*/) {}
  // The thread is at this path, which starts below its root: open activations that are not on it
  // have ended, and those on it that are not open yet are open from now on. Counts nothing. At
  // least the first `shared` of the path are the same as in the thread's last position.
  virtual void OnPosition(At, absl::Span<const PathStep> /*path*/, size_t /*shared*/) {}
  virtual void OnSample(At, const SampleRecord&) {}
  // The thread got (on) or left a processor.
  virtual void OnSwitch(At, bool /*on*/) {}
  virtual void OnMetric(At, MetricId, int64_t /*delta*/) {}
  // `path` starts below the thread's root. If `shared` is not 0, the record before was of this kind
  // and of the same thread, and at least that many of its path are the same.
  virtual void OnNode(At, const NodeCounts&, absl::Span<const PathStep> /*path*/,
                      size_t /*shared*/) {}
  virtual void OnHook(At, const HookRecord&) {}
  virtual void OnCode(At, const CodeRecord&) {}
  // Anything else that does not change the call tree: "class-load", "gc-begin", "thread-start", …
  virtual void OnNotice(At, std::string_view /*op*/, absl::Span<const std::string> /*args*/) {}
};

// Modulo 2^64, as all sums.
inline void HookSums::Add(const HookSums& other) {
  const auto add = [](int64_t& sum, int64_t value) {
    sum = static_cast<int64_t>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(value));
  };
  if (other.timed != 0) {
    min_ns = timed == 0 ? other.min_ns : std::min(min_ns, other.min_ns);
    max_ns = timed == 0 ? other.max_ns : std::max(max_ns, other.max_ns);
  }
  add(calls, other.calls);
  add(timed, other.timed);
  add(total_ns, other.total_ns);
}

inline void RecordVisitor::OnCalls(ThreadId thread, absl::Span<const CallRecord> calls) {
  for (const CallRecord& call : calls) {
    if (call.is_exit) {
      OnExit({call.time, thread}, call.routine, call.kind);
    } else {
      OnEnter({call.time, thread}, call.routine, call.kind);
    }
  }
}

}  // namespace jtrace::postproc
