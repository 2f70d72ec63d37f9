// record=log: empties the rings to which threads write their entries and exits (log_ring.h).
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "agent/calls/clocks/clock_scale.h"
#include "agent/calls/trees/call_kinds.h"
#include "agent/signal_safe/arena.h"
#include "agent/signal_safe/arena_ref.h"
#include "agent/signal_safe/atomic_access.h"
#include "agent/signal_safe/log_ring.h"
#include "agent/signal_safe/probe_clock.h"
#include "agent/signal_safe/thread_state.h"
#include "agent/signal_safe/tree_node.h"

namespace jtrace::calls {

// Another record than an entry or exit: before the run's event `index`, or after its last event.
// Those of one index are in order.
struct LogControl {
  uint32_t index;
  // kDropped: `value` calls were counted in the tree, and so were their exits, up to `time`. kAt:
  // the thread is at the node `value` (a Ref). kOff: since the event before, the thread was off the
  // processors for `value` nanoseconds.
  signal_safe::LogRecordKind kind;
  uint64_t value;
  uint64_t time;  // nanoseconds of CLOCK_MONOTONIC; 0 without a clock
};

// Records of one thread, in their order; valid during the visit.
struct LogRun {
  uint64_t java_tid;
  absl::Span<const uint32_t> ops;  // routine << 2 | exit << 1 | jitted
  // Nanoseconds of CLOCK_MONOTONIC, one for each op, never decreasing; empty without a clock.
  absl::Span<const uint64_t> times;
  absl::Span<const LogControl> controls;
  bool has_clock;
  uint64_t since;  // with a clock: the time of the thread's last record before the run
};

// On the writer thread only; never waits for a probe.
class LogCollector {
 public:
  LogCollector(signal_safe::Arena* arena, signal_safe::ProbeClock clock, const ClockScale& scale)
      : arena_(arena), clock_(clock), scale_(scale) {}

  using Visit = absl::FunctionRef<void(const LogRun&)>;
  // Calls `visit` for each thread's records since the last time, at most kRunRecords of each.
  // Returns whether some ring has more. Calls Finish for threads that have ended.
  bool Poll(Visit visit);
  // Visits all remaining records of a thread that has ended and releases its rings, unless that was
  // done before. Must be called before the thread's memory is reused.
  void Finish(const signal_safe::ThreadState& ended, Visit visit);
  // The recording or its file ends while threads may still run: reads the records up to now, and
  // the time since each thread's last record. (Not with clock=cpu, where only the thread knows how
  // much of that was on a processor: the next file gets all of it, if one follows.)
  void EndFile(bool is_last, Visit visit);

  // A new recording begins: earlier records belong to none. `follow`: tracks the node that each log
  // has reached, for a recording of more than one file; this doubles the time for a record. So do
  // `kinds` that leave out calls: a position replaces those that a later record needs.
  void BeginRecording(bool follow, CallKinds kinds = CallKinds());

  // A new file continues where the last one ended: the log of a thread that is inside calls begins
  // with the position of its first record.
  void BeginFile();

  // No more records from now on: threads close their logs and count in their trees.
  void StopLogs() { signal_safe::WriteRelaxed(arena_->log_stopped, uint64_t{1}); }

  // overflow=wait: from now to the end of the last file, threads wait while their rings are full.
  // Called just before the polling thread begins, which must never wait for one of them, and after
  // DefineLogWait.
  void LetThreadsWait() { SetWaits(signal_safe::FullLogPolicy::kWait); }
  // Nobody reads the logs any longer. Any thread.
  void EndWaits() { SetWaits(signal_safe::FullLogPolicy::kDrop); }
  // Whether a thread ended the waits, because nothing was read for about ten seconds.
  bool stalled() const {
    return stalled_ || signal_safe::ReadRelaxed(arena_->log_waits) ==
                           static_cast<uint64_t>(signal_safe::FullLogPolicy::kStalled);
  }
  // Since BeginFile, the sum of all threads.
  uint64_t file_waited_ns() const {
    return signal_safe::ReadRelaxed(arena_->log_waited) - waited_before_;
  }

  // Totals of the recording: entries and exits in all runs; entries, including those that `kinds`
  // left out; calls that only the tree counted.
  uint64_t events() const { return events_; }
  uint64_t calls() const { return calls_; }
  uint64_t dropped_calls() const { return dropped_; }
  // Since BeginFile.
  uint64_t file_dropped_calls() const { return dropped_ - dropped_before_file_; }

  static constexpr size_t kRunRecords = 1 << 17;

 private:
  void SetWaits(signal_safe::FullLogPolicy waits) {
    signal_safe::WriteRelaxed(arena_->log_waits, static_cast<uint64_t>(waits));
  }
  // How far a thread's log is read.
  struct Reader {
    uint64_t time = 0;          // of the last record or the file's begin, in the clock's units
    uint64_t near = 0;          // 8-byte records: a clock reading before the next record
    uint64_t time_high = 0;     // 4-byte records: the last kTimeHigh
    uint64_t off = 0;           // nanoseconds off the processors to report with the next record
    uint64_t reported = 0;      // calls of the open gap that are already reported
    signal_safe::Ref at = 0;    // the node that the log has reached (LogPosition)
    signal_safe::Ref seen = 0;  // the same after the last record that was not left out
    signal_safe::Ref begins_at = 0;  // position to write before the file's first record; 0: none
    bool is_wide = false;            // records have 8 bytes
  };
  // log_gap, log_dropped and current of a ThreadState in an open gap; `gap` 0: there is none.
  struct Gap {
    uint64_t gap = 0;
    uint64_t dropped = 0;
    uint64_t current = 0;
  };

  template <typename Action>
  void ForEachState(Action action) {
    for (const signal_safe::Ref& bucket : arena_->buckets) {
      for (signal_safe::Ref ref = signal_safe::ReadAcquire(bucket); ref != 0;) {
        auto& state = *signal_safe::At<signal_safe::ThreadState>(arena_, ref);
        action(state);
        ref = signal_safe::ReadRelaxed(state.next);
      }
    }
  }
  Reader& ReaderOf(const signal_safe::ThreadState& state);
  bool DrainSome(signal_safe::ThreadState& state, Visit visit);
  // Reads the thread's rings, at most kRunRecords.
  size_t ReadRings(signal_safe::ThreadState& state, Reader& reader);
  void BeginRun(Reader& reader);
  void EndRun(const signal_safe::ThreadState& state, uint64_t since, Visit visit);
  // Whether all that the thread has written up to now is read.
  static bool IsRead(const signal_safe::ThreadState& state);
  Gap OpenGap(const signal_safe::ThreadState& state) const;
  // Reports what the thread would write if the gap ended now, at the node `goes_on`.
  void FinishGap(const signal_safe::ThreadState& state, const Gap& gap, signal_safe::Ref goes_on,
                 uint64_t now, Visit visit);
  void EndFileOf(signal_safe::ThreadState& state, bool is_last, Visit visit);
  void DrainToNow(signal_safe::ThreadState& state, Visit visit);
  // Sets reader.at if nodes are not tracked: the current node, or unknown if the thread runs on.
  void ReadCurrentPosition(const signal_safe::ThreadState& state, Reader& reader) const;
  // Whether the log is known to have reached a node below the root.
  bool IsInside(const signal_safe::ThreadState& state, const Reader& reader) const;
  template <typename Word>
  size_t ReadRecords(const signal_safe::ThreadState& state, signal_safe::LogRing& ring, size_t most,
                     Reader& reader);
  // Whether entries and exits need only be copied.
  template <typename Word>
  bool IsPlain() const {
    return sizeof(Word) == sizeof(uint32_t) && !timed() && !follows_ && kinds_.all();
  }
  template <typename Word>
  uint64_t ReadPlain(Word* words, uint64_t most);
  void ReadRecord(Reader& reader, uint32_t record);
  void ReadRecord(Reader& reader, uint64_t record);
  // Adds an entry or exit to the run unless `kinds_` leaves it out; returns whether it did.
  bool ReadOp(Reader& reader, uint32_t op);
  void Follow(Reader& reader, uint32_t op) const;
  void AddTimeOff(Reader& reader);
  signal_safe::Ref RefOf(uint64_t node) const {
    return signal_safe::RefOf(arena_, reinterpret_cast<const signal_safe::Node*>(node));
  }
  bool timed() const { return clock_ != signal_safe::ProbeClock::kNone; }
  // The time of the last record; 0 without a clock.
  uint64_t TimeOf(const Reader& reader) const;
  void MoveTime(Reader& reader, uint64_t low_bits);
  void ReadKind(Reader& reader, signal_safe::LogRecordKind kind, uint64_t value);
  void AddControl(signal_safe::LogRecordKind kind, uint64_t value, uint64_t time);
  // The present reading of the probes, in the clock's units.
  uint64_t NowTicks() const;

  signal_safe::Arena* arena_;
  const signal_safe::ProbeClock clock_;
  const ClockScale& scale_;
  absl::flat_hash_map<uint64_t, Reader> readers_;  // by Thread.threadId()
  // The run being read.
  std::vector<uint32_t> ops_;
  std::vector<uint64_t> times_;
  std::vector<LogControl> controls_;
  bool follows_ = true;
  CallKinds kinds_;
  uint64_t events_ = 0;
  uint64_t calls_ = 0;
  uint64_t dropped_ = 0;
  uint64_t dropped_before_file_ = 0;
  bool stalled_ = false;        // a thread had ended the waits at the last file's end
  uint64_t waited_before_ = 0;  // log_waited when the file began
};

}  // namespace jtrace::calls
