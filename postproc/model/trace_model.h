// The objects that the records of a report's traces refer to: names, frames, threads, modules, and
// what the traces say about themselves. Filled by the readers, read by every later stage.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "postproc/model/frame_name.h"
#include "postproc/model/ids.h"
#include "postproc/model/string_pool.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {

// Keys and values.
using Labels = std::vector<std::pair<std::string, std::string>>;

// Valid UTF-8, sorted by key, each key once, with the last of its values; none without a key or a
// value.
Labels Normalized(Labels labels);
// Pairs KEY=VALUE, separated by commas. A backslash is written before a comma and a backslash, and
// in a key before an equals sign, too.
std::string LabelText(const Labels& labels);
// The reverse, of any text.
Labels ParseLabelText(std::string_view text);

// A frame of a sample. Frames compare only by routine (FORMATS §1).
struct Frame {
  RoutineId routine;
  ModuleId module;
  Origin origin = Origin::kNone;
  bool is_tail_call = false;  // as in FrameName
  friend bool operator==(const Frame&, const Frame&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const Frame& frame) {
    return H::combine(std::move(state), frame.routine, frame.module, frame.origin,
                      frame.is_tail_call);
  }
};

// A thread of one of the traces.
struct ThreadInfo {
  std::string name;    // unique within its trace
  uint32_t trace = 0;  // which input it belongs to, from 0
  int64_t tid = 0;     // the system's number, or a virtual thread's Java number; 0: unknown
  int64_t java_tid = 0;
  // The number of threads in this one's tree; 0: it is the tree of one thread.
  int64_t folded_threads = 0;
  bool is_virtual = false;
  bool is_daemon = false;
  bool is_vm_internal = false;
};

// The effect of a loss or problem on the results.
enum class Severity { kInfo, kWarning, kError };
// "info", "warning", "error"
std::string_view SeverityName(Severity severity);

// Properties of a routine other than its name: a method, or what probes inside methods saw (S2.2).
enum class RoutineKind : uint8_t {
  kMethod,
  kCall,
  kNative,
  kThrown,
  kCaught,
  kPark,
  kMonitorEnter,
  kMonitorExit
};
// Whether it is an event in its caller, not code that runs.
inline bool IsEvent(RoutineKind kind) {
  return kind == RoutineKind::kThrown || kind == RoutineKind::kCaught ||
         kind == RoutineKind::kMonitorEnter || kind == RoutineKind::kMonitorExit;
}
// "method", "call", …
std::string_view RoutineKindName(RoutineKind kind);
std::optional<RoutineKind> ParseRoutineKind(std::string_view name);
// What determines the time of a call out of scope (S4.2).
enum class RoutineCost : uint8_t { kUnclassified, kFixed, kVariable, kIndeterminate, kUserInput };
inline constexpr size_t kRoutineCosts = static_cast<size_t>(RoutineCost::kUserInput) + 1;
// "", "fixed", …
std::string_view RoutineCostName(RoutineCost cost);
std::optional<RoutineCost> ParseRoutineCost(std::string_view name);
// A routine's kind and cost.
struct RoutineTraits {
  RoutineKind kind = RoutineKind::kMethod;
  RoutineCost cost = RoutineCost::kUnclassified;
  // Of a call, by the agent's table; and thousandths for each element that it gets.
  int64_t cycles = 0;
  int64_t millicycles_per_element = 0;
};

// A Java method as the class file names it: its display name may leave out what one trace does not
// need to distinguish it.
struct JavaMember {
  std::string_view class_name;  // with dots
  std::string_view name;
  std::string_view descriptor;
};

// Something the agent did not record.
struct Loss {
  std::string name;
  Severity severity = Severity::kWarning;
  int64_t count = 0;
  std::string what;
  std::string advice;
};

// A number that a trace reports about itself: the planner's work, exact totals of events.
struct TraceCount {
  std::string key;  // "planner.probe.entry"
  int64_t value = 0;
  std::string what;  // for people
};

// The action of a hook in native code for each call: counts it, takes its stack too, times it.
enum class HookKind : uint8_t { kCount, kUnwind, kTime };
// "count", "unwind", "time"
std::string_view HookKindName(HookKind kind);
std::optional<HookKind> ParseHookKind(std::string_view name);

// A native function with a hook (S3.9), or a Java method (S3.24), whether or not it was called.
struct HookInfo {
  FrameId frame;
  HookKind kind = HookKind::kCount;
  std::string pattern;  // what the user requested; empty: unknown
  friend bool operator==(const HookInfo&, const HookInfo&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const HookInfo& hook) {
    return H::combine(std::move(state), hook.frame, hook.kind, hook.pattern);
  }
};

// One input. `facts` are key and value, in the order given: "command", "jvm", "mode", …
struct TraceInfo {
  std::string file;
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<Loss> losses;
  std::vector<TraceCount> counts;
  std::vector<HookInfo> hooks;
  int64_t interval_ns = 0;  // what one tick stands for; 0: unknown
  bool cut_off = false;     // ended without its last record
  bool running = false;     // and its writer still has it open

  std::string_view Fact(std::string_view key) const;
  // The feature release of the JVM, such as 17; 0: unknown.
  int64_t JavaRelease() const;
  void SetFact(std::string_view key, std::string_view value);
  void SetLoss(Loss loss);  // the last value of a name counts
  void SetCount(std::string_view key, int64_t value, std::string_view what);
  // Added once, however often this is called; without a pattern only if no hook of that frame and
  // kind exists.
  void AddHook(HookInfo hook);

 private:
  StringMap<size_t> fact_of_, loss_of_, count_of_;  // indexes by name, key
  absl::flat_hash_set<HookInfo> known_hooks_;  // those of `hooks`, with their patterns and without
};

// The fact "end" of a trace that has as many samples as its recording was to have.
inline constexpr std::string_view kEndedBySamples = "ended by samples=";

// The unit of the times in a trace.
enum class TimeUnit { kNanoseconds, kMicroseconds, kMilliseconds, kTicks };
std::optional<TimeUnit> ParseTimeUnit(std::string_view text);
std::string_view TimeUnitName(TimeUnit unit);
// 0 for ticks.
int64_t NanosecondsPer(TimeUnit unit);

// The routine of nodes whose children are calls from callers that are no longer known: the agent
// dropped their paths when memory was short.
inline constexpr std::string_view kPrunedName = "[pruned]";

class TraceModel {
 public:
  // Names are normalised ("> >" becomes ">>") and interned; a routine's name is its identity.
  RoutineId InternRoutine(std::string_view name);
  RoutineId FindRoutine(std::string_view name) const { return routines_.Find(name); }
  std::string_view RoutineName(RoutineId id) const { return routines_.Text(id); }
  size_t routine_count() const { return routines_.size(); }

  // Not needed for routines that are only methods; a routine that is also a method counts as a
  // method.
  void AddRoutineTraits(RoutineId id, RoutineTraits traits);
  RoutineTraits TraitsOf(RoutineId id) const {
    return id.value < traits_.size() ? traits_[id.value] : RoutineTraits();
  }

  // Known of binary traces only; text traces have no descriptors.
  void SetMember(RoutineId id, const JavaMember& member);
  std::optional<JavaMember> MemberOf(RoutineId id) const;

  // The routine is a native function with a hook: events count it as kind `native`.
  void AddHooked(RoutineId id) {
    hooked_.insert(id);
    AddRoutineTraits(id, {RoutineKind::kNative});
  }
  // False if it is also a method.
  bool IsHooked(RoutineId id) const { return hooked_.contains(id) && !methods_.contains(id); }

  FrameId InternFrame(const Frame& frame);
  // "N:libc.so.6!malloc"
  FrameId InternFrameText(std::string_view text);
  size_t frame_count() const { return frames_.size(); }
  const Frame& frame(FrameId id) const { return frames_[id.value - 1]; }
  std::string FrameText(FrameId id) const;

  ModuleId InternModule(std::string_view name) { return modules_.Intern(name); }
  std::string_view ModuleName(ModuleId id) const { return modules_.Text(id); }
  // The module a report shows for a frame: "[java]" and the like if it has none itself.
  std::string_view ModuleOf(const Frame& frame) const;

  MetricId InternMetric(std::string_view name) { return metrics_.Intern(name); }
  MetricId FindMetric(std::string_view name) const { return metrics_.Find(name); }
  std::string_view MetricName(MetricId id) const { return metrics_.Text(id); }
  size_t metric_count() const { return metrics_.size(); }

  ClassId InternClass(std::string_view name) { return classes_.Intern(name); }
  std::string_view ClassName(ClassId id) const { return classes_.Text(id); }

  // None for the empty set. Sets with the same LabelText are one.
  LabelsId InternLabels(Labels labels);
  const Labels& labels(LabelsId id) const { return labels_[id.value - 1]; }
  // "kind=query,tenant=acme"; empty for none.
  std::string_view LabelsText(LabelsId id) const { return label_texts_.Text(id); }
  size_t labels_count() const { return labels_.size(); }

  ThreadId AddThread(ThreadInfo thread);
  const ThreadInfo& thread(ThreadId id) const { return threads_[id.value - 1]; }
  ThreadInfo& thread(ThreadId id) { return threads_[id.value - 1]; }
  size_t thread_count() const { return threads_.size(); }

  // The instrumented scope, if a trace names it: a frame in it is the application's (--scope).
  // Traces without instrumented methods (mode=samples) name none: there it is Java code that is not
  // the JDK's.
  void AddToScope(RoutineId id) { scope_.insert(id); }
  const absl::flat_hash_set<RoutineId>& scope() const { return scope_; }
  bool InScope(const Frame& frame) const;

  TraceInfo& AddTrace(std::string file);
  std::deque<TraceInfo>& traces() { return traces_; }
  const std::deque<TraceInfo>& traces() const { return traces_; }
  // The interval that all traces agree on; 0 if they do not.
  int64_t interval_ns() const;

  TimeUnit unit() const { return unit_.value_or(TimeUnit::kNanoseconds); }
  // False if an earlier trace has another unit.
  [[nodiscard]] bool SetUnit(TimeUnit unit);

 private:
  StringPool<RoutineId> routines_;
  std::vector<RoutineTraits> traits_;  // by routine, as far as known
  using PartId = Id<struct MemberPartTag>;
  struct MemberParts {
    PartId class_name, name, descriptor;
  };
  StringPool<PartId> member_parts_;
  std::vector<MemberParts> members_;  // by routine, as far as known
  absl::flat_hash_set<RoutineId> methods_;
  absl::flat_hash_set<RoutineId> hooked_;
  StringPool<ModuleId> modules_;
  StringPool<MetricId> metrics_;
  StringPool<ClassId> classes_;
  StringPool<LabelsId> label_texts_;
  std::vector<Labels> labels_;  // by set
  std::vector<Frame> frames_;
  absl::flat_hash_map<Frame, FrameId> frame_ids_;
  StringMap<FrameId> frame_texts_;
  std::vector<ThreadInfo> threads_;
  absl::flat_hash_set<RoutineId> scope_;
  std::deque<TraceInfo> traces_;
  std::optional<TimeUnit> unit_;
};

}  // namespace jtrace::postproc
