// Logs of what happened beside calls: reads and writes, segments of code, waits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "postproc/model/record_visitor.h"
#include "postproc/model/string_pool.h"
#include "postproc/model/trace_model.h"

namespace jtrace::postproc {

// Reads, writes, connects and accepts (0x63), by what they were on.
class IoLog : public RecordVisitor {
 public:
  using Name = std::pair<std::string, std::string>;  // "read", and a file or a peer
  struct Total {
    int64_t calls = 0;
    int64_t failed = 0;  // of these; or they would have had to wait
    int64_t bytes = 0;
    int64_t time = 0;     // in the trace's unit
    int64_t longest = 0;  // the same
    absl::flat_hash_set<ThreadId> threads;
  };

  void OnCalls(ThreadId, absl::Span<const CallRecord>) override {}
  void OnReducedCalls(ThreadId, const ReducedCalls&,
                      absl::FunctionRef<void(RecordVisitor&)>) override {}
  void OnNotice(At at, std::string_view op, absl::Span<const std::string> args) override;

  // Calls whose begin and end are in the trace.
  const absl::btree_map<Name, Total>& totals() const { return totals_; }

 private:
  struct Begun {
    Name name;
    int64_t time = 0;
  };

  void End(At at, std::string_view kind, absl::Span<const std::string> args);

  absl::flat_hash_map<ThreadId, Begun> begun_;
  absl::btree_map<Name, Total> totals_;
};

// Finds the time of each segment that ends: its record has it, or its begin is in the trace.
class SegmentPairs {
 public:
  // Times are in the trace's unit.
  struct Ended {
    std::string name;
    int64_t begin = 0;
    int64_t time = 0;  // from begin to end
  };
  // For each notice; none: it ends no segment whose time is known.
  std::optional<Ended> Take(At at, std::string_view op, absl::Span<const std::string> args);

  // The number that have begun and not ended, by name.
  absl::btree_map<std::string, int64_t> Open() const;

 private:
  // When they began, the innermost last.
  absl::flat_hash_map<std::pair<ThreadId, std::string>, std::vector<int64_t>> begun_;
};

class SegmentLog : public RecordVisitor {
 public:
  struct Total {
    int64_t count = 0;  // that ended
    int64_t time = 0;   // in the trace's unit, as the next two
    int64_t min = 0;
    int64_t max = 0;
    int64_t open = 0;  // that did not end in the trace

    void Add(int64_t more, int64_t sum, int64_t least, int64_t most);
  };

  void OnCalls(ThreadId, absl::Span<const CallRecord>) override {}
  void OnReducedCalls(ThreadId, const ReducedCalls&,
                      absl::FunctionRef<void(RecordVisitor&)>) override {}
  void OnNotice(At at, std::string_view op, absl::Span<const std::string> args) override;

  // Those with a record, and those that are only counted.
  absl::btree_map<std::string, Total> Totals() const;

 private:
  SegmentPairs pairs_;
  absl::btree_map<std::string, Total> totals_;
};

// A frame is the application's if it is Java code in the trace's scope or, if the trace names no
// scope, not the JDK's own. The sample says what a thread waits on; otherwise, for monitors, the
// trace's records of them (0x61).
class WaitLog : public RecordVisitor {
 public:
  struct Place {
    SampleState state = SampleState::kUnknown;
    std::string_view on;    // the class of the object; "": none, or unknown
    std::string_view call;  // what the site called; without a site, the innermost frame
    std::string_view site;  // the application's innermost frame; "": there is none
    auto operator<=>(const Place&) const = default;
  };
  struct Total {
    int64_t ticks = 0;
    int64_t samples = 0;
    absl::flat_hash_set<ThreadId> threads;
  };

  explicit WaitLog(const TraceModel& model) : model_(model) {}

  void OnCalls(ThreadId, absl::Span<const CallRecord>) override {}
  void OnReducedCalls(ThreadId, const ReducedCalls&,
                      absl::FunctionRef<void(RecordVisitor&)>) override {}
  void OnSample(At at, const SampleRecord& sample) override;
  void OnNotice(At at, std::string_view op, absl::Span<const std::string> args) override;

  const absl::btree_map<Place, Total>& places() const { return places_; }
  // Ticks of all samples, including those of running threads.
  int64_t ticks() const { return ticks_; }

 private:
  bool IsApplication(FrameId frame) const;
  std::string_view BlockerOf(ThreadId thread, const SampleRecord& sample) const;

  const TraceModel& model_;
  StringPool<ClassId> classes_;                               // names that places refer to
  absl::flat_hash_map<ThreadId, std::string_view> monitors_;  // that threads wait for now
  absl::btree_map<Place, Total> places_;
  int64_t ticks_ = 0;
};

// Waits that ended (0x64), by the thread that each was for.
class WaitedLog : public RecordVisitor {
 public:
  // What distinguishes rows.
  struct Wait {
    std::string waited_for;   // a thread's name, "[timed out]", "[unknown]", …
    std::string kind;         // "monitor", "wait", "join", "park"
    std::string how;          // "owned", "unowned", "unparked", "ended", …
    std::string_view waiter;  // a thread's name
    std::string on;           // the class of the object; "": none, or unknown
    std::string at;           // the routine that waited; "": none, or unknown
    std::string by;           // the routine that unparked; "": the same
    auto operator<=>(const Wait&) const = default;
  };
  struct Total {
    int64_t waits = 0;
    int64_t time = 0;     // in the trace's unit
    int64_t longest = 0;  // the same
    void Add(const Total& other);
  };

  explicit WaitedLog(const TraceModel& model) : model_(model) {}

  void OnCalls(ThreadId, absl::Span<const CallRecord>) override {}
  void OnReducedCalls(ThreadId, const ReducedCalls&,
                      absl::FunctionRef<void(RecordVisitor&)>) override {}
  void OnNotice(At at, std::string_view op, absl::Span<const std::string> args) override;

  const absl::btree_map<Wait, Total>& waits() const { return waits_; }

 private:
  const TraceModel& model_;
  StringPool<ClassId> waiters_;  // names that rows refer to
  absl::btree_map<Wait, Total> waits_;
};

// Classes that the JVM loaded and unloaded (0x20), by name: classes of the same name in several
// loaders count together.
class ClassLog : public RecordVisitor {
 public:
  struct Entry {
    int64_t loads = 0;
    int64_t unloads = 0;
    int64_t methods = 0;     // of the class loaded last
    int64_t first_load = 0;  // in the trace's unit
    std::string source;      // the jar, folder or module of the class loaded last; "": unknown
  };

  void OnCalls(ThreadId, absl::Span<const CallRecord>) override {}
  void OnReducedCalls(ThreadId, const ReducedCalls&,
                      absl::FunctionRef<void(RecordVisitor&)>) override {}
  void OnNotice(At at, std::string_view op, absl::Span<const std::string> args) override;

  const absl::btree_map<std::string, Entry>& classes() const { return classes_; }

 private:
  absl::btree_map<std::string, Entry> classes_;
};

// Calls of native functions that hooks counted (0x33), by caller.
class HookLog : public RecordVisitor {
 public:
  struct Caller {
    ThreadId thread;  // none: threads are not distinguished
    RoutineId java;   // the thread's innermost event node at the call; none: its root
    FrameId native;   // none: unknown
    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 sees a 0 in the defaulted operator.
    friend auto operator<=>(const Caller&, const Caller&) = default;
  };
  using Callers = absl::btree_map<Caller, HookSums>;
  // A function may be hooked twice, one after the other, in different ways.
  using Key = std::pair<FrameId, HookKind>;

  explicit HookLog(bool by_thread) : by_thread_(by_thread) {}

  void OnCalls(ThreadId, absl::Span<const CallRecord>) override {}
  void OnReducedCalls(ThreadId, const ReducedCalls&,
                      absl::FunctionRef<void(RecordVisitor&)>) override {}
  void OnHook(At at, const HookRecord& hook) override {
    const Caller caller = {by_thread_ ? at.thread : ThreadId(),
                           hook.path.empty() ? RoutineId() : hook.path.back().routine, hook.caller};
    hooks_[{hook.hook, hook.kind}][caller].Add(hook.sums);
  }

  // Hooks that were called; TraceInfo::hooks has all.
  const absl::btree_map<Key, Callers>& hooks() const { return hooks_; }
  bool by_thread() const { return by_thread_; }

 private:
  const bool by_thread_;
  absl::btree_map<Key, Callers> hooks_;
};

}  // namespace jtrace::postproc
