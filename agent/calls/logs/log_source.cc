#include "agent/calls/logs/log_source.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "proto/trace_format.h"

namespace jtrace::calls {
namespace {

// The bytes that a log keeps when it is cleared.
size_t MemoryOf(const proto::EventLog& log) {
  constexpr size_t kAllocator = 64;
  return sizeof(proto::EventLog) + kAllocator +
         static_cast<size_t>(log.op().Capacity()) * sizeof(uint32_t) +
         static_cast<size_t>(log.delta_ns().Capacity()) * sizeof(uint64_t);
}

// Turns a run into a log, with events for the times that the thread was off the processors.
class RunEncoder {
 public:
  // `now`: the time of records that have none.
  RunEncoder(const RecordingClock& clock, const LogRun& run, uint32_t thread, uint64_t now,
             absl::FunctionRef<proto::EventLog*()> new_log, proto::Chunk& chunk)
      : clock_(clock), run_(run), thread_(thread), now_(now), new_log_(new_log), chunk_(chunk) {}

  // `number_of`: returns a node's number in the trace by its Ref.
  template <typename NumberOf>
  void Encode(bool with_switches, NumberOf number_of) {
    size_t from = 0;
    for (size_t i = 0; i < run_.controls.size(); ++i) {
      const LogControl& control = run_.controls[i];
      AddOps(from, control.index);
      from = control.index;
      if (control.kind == signal_safe::LogRecordKind::kAt) {
        AddValue(format::kLogPosition, number_of(control.value), TimeOf(control));
      } else if (control.kind == signal_safe::LogRecordKind::kDropped) {
        AddDropped(2 * control.value, TimeOf(control));
      } else if (with_switches) {
        AddOff(i);
      }
    }
    AddOps(from, run_.ops.size());
  }

 private:
  uint64_t TimeOf(size_t index) const {
    return run_.times.empty() ? now_ : clock_.Since(run_.times[index]);
  }
  uint64_t TimeOf(const LogControl& control) const {
    return control.time == 0 ? now_ : clock_.Since(control.time);
  }

  void AddOps(size_t from, size_t to) {
    if (from == to) return;
    if (log_ == nullptr) Begin(TimeOf(from));
    log_->mutable_op()->Add(run_.ops.begin() + from, run_.ops.begin() + to);
    if (run_.times.empty()) return;
    for (size_t i = from; i < to; ++i) AddTime(TimeOf(i));
  }

  void AddValue(uint32_t op, uint32_t value, uint64_t time) {
    if (log_ == nullptr) Begin(time);
    log_->add_op(op);
    log_->add_op(value);
    if (!with_times_) return;
    AddTime(time);
    AddTime(time);
  }

  void AddDropped(uint64_t events, uint64_t time) {
    do {
      const uint64_t part = std::min<uint64_t>(events, std::numeric_limits<uint32_t>::max());
      AddValue(format::kLogDropped, static_cast<uint32_t>(part), time);
      events -= part;
    } while (events != 0);
  }

  void Begin(uint64_t time) {
    log_ = new_log_();
    log_->set_thread(thread_);
    log_->set_time_ns(time);
    last_ = time;
    with_times_ = run_.has_clock;
    if (with_times_) log_->mutable_delta_ns()->Reserve(static_cast<int>(run_.ops.size()));
  }

  void AddTime(uint64_t time) {
    time = std::max(time, last_);
    log_->add_delta_ns(time - last_);
    last_ = time;
  }

  // The event lies within the interval of the time off: at its end, but before the record that ends
  // it, because at equal times logs come before events.
  void AddOff(size_t control) {
    const uint64_t before = TimeBefore(control);
    const uint64_t after = TimeAfter(control, before);
    const uint64_t on = std::max(before, after - 1);
    const uint64_t length = run_.controls[control].value;
    AddSwitch(std::max(before, on - std::min(on, length)), format::kSwitchOn | format::kEnd);
    AddSwitch(on, format::kSwitchOn);
  }

  uint64_t TimeBefore(size_t control) const {
    const uint32_t index = run_.controls[control].index;
    if (control > 0 && run_.controls[control - 1].index == index)
      return TimeOf(run_.controls[control - 1]);
    return index > 0 ? TimeOf(index - 1) : clock_.Since(run_.since);
  }

  // The time of the first record after `control` that is later than `before`; a position can be
  // equally early.
  uint64_t TimeAfter(size_t control, uint64_t before) const {
    const uint32_t index = run_.controls[control].index;
    for (++control; control < run_.controls.size() && run_.controls[control].index == index;
         ++control) {
      if (TimeOf(run_.controls[control]) > before) return TimeOf(run_.controls[control]);
    }
    return index < run_.ops.size() ? TimeOf(index) : now_;
  }

  void AddSwitch(uint64_t time, uint32_t minor) {
    proto::Event* event = chunk_.add_event();
    event->set_time_ns(time);
    event->set_thread(thread_);
    event->set_major(format::kThreadSwitch);
    event->set_minor(minor);
  }

  const RecordingClock& clock_;
  const LogRun& run_;
  const uint32_t thread_;
  const uint64_t now_;
  const absl::FunctionRef<proto::EventLog*()> new_log_;
  proto::Chunk& chunk_;
  proto::EventLog* log_ = nullptr;
  bool with_times_ = false;
  uint64_t last_ = 0;
};

}  // namespace

LogSource::LogSource(const RecordingClock& clock, LogCollector& collector, TreeSource trees,
                     jvm::ThreadRegistry& threads, trace::RecordEncoder& encoder, Losses& losses,
                     Settings settings)
    : clock_(clock),
      collector_(collector),
      trees_(std::move(trees)),
      threads_(threads),
      encoder_(encoder),
      losses_(losses),
      settings_(settings) {}

void LogSource::Poll(proto::Chunk& chunk) {
  // Logs before trees, so that ended threads release their rings now.
  is_behind_ = collector_.Poll([&](const LogRun& run) { Add(run, chunk); });
  trees_.Poll(chunk);
}

void LogSource::DefineRoutines(const LogRun& run) {
  for (const uint32_t op : run.ops) {
    const uint32_t routine = op >> 2;
    if (routine < defined_.size() && defined_[routine] != 0) continue;
    if (routine >= defined_.size()) {
      defined_.resize(std::max<size_t>(routine + 1, defined_.size() * 2));
    }
    defined_[routine] = 1;
    encoder_.DefineRoutines({routine});
  }
}

void LogSource::Add(const LogRun& run, proto::Chunk& chunk) {
  DefineRoutines(run);
  const uint32_t thread = threads_.NumberOfJava(run.java_tid);
  const auto new_log = [&] { return NewLog(chunk); };
  RunEncoder encoder(clock_, run, thread, clock_.Now(), new_log, chunk);
  encoder.Encode(settings_.switches, [this](uint64_t ref) { return trees_.NumberOf(ref); });
  if (settings_.recorded != nullptr && !run.times.empty()) {
    settings_.recorded->AddUntil(thread, clock_.Since(run.times.back()), chunk);
  }
}

void LogSource::Recycle(proto::Chunk& written) {
  // As much as a chunk of the usual size has.
  constexpr size_t kMaxSpareBytes = 8u << 20;
  while (written.log_size() > 0) {
    std::unique_ptr<proto::EventLog> log(written.mutable_log()->ReleaseLast());
    const size_t bytes = MemoryOf(*log);
    if (spare_bytes_ + bytes > kMaxSpareBytes) return;
    spare_bytes_ += bytes;
    spare_.push_back(std::move(log));
  }
}

proto::EventLog* LogSource::NewLog(proto::Chunk& chunk) {
  if (spare_.empty()) return chunk.add_log();
  proto::EventLog* log = spare_.back().release();
  spare_.pop_back();
  spare_bytes_ -= MemoryOf(*log);
  log->Clear();
  chunk.mutable_log()->AddAllocated(log);
  return log;
}

void LogSource::AddChanges(uint64_t time_ns, proto::Chunk& chunk) {
  trees_.OnThreadEnd([&](const signal_safe::ThreadState& state) {
    collector_.Finish(state, [&](const LogRun& run) { Add(run, chunk); });
  });
  trees_.AddChanges(time_ns, chunk);
  WatchBudget();
  losses_.Set("log.dropped", Severity::kInfo, collector_.file_dropped_calls(),
              "calls that the log had no room for: counted, but without their order and times",
              settings_.waits ? "raise memory=, or log fewer methods: include=com.acme.**"
                              : "log fewer methods: include=com.acme.**, or use record=tree, or "
                                "overflow=wait");
  ReportWaits();
}

void LogSource::ReportWaits() {
  constexpr uint64_t kNanosPerMilli = 1'000'000;
  losses_.Set("log.waited", Severity::kInfo, collector_.file_waited_ns() / kNanosPerMilli,
              "milliseconds that threads waited for room in their logs (overflow=wait)",
              "log fewer methods: include=com.acme.**; only clock=cpu leaves waits out of times");
  if (!collector_.stalled()) return;
  losses_.Set(
      "log.waits_ended", Severity::kWarning, 1,
      "nothing was written for ten seconds: threads no longer waited for room in their logs",
      "write to a disk that is fast enough, or use record=tree");
}

void LogSource::EndFile(bool is_last, proto::Chunk& chunk) {
  collector_.EndFile(is_last, [&](const LogRun& run) { Add(run, chunk); });
  trees_.EndFile(is_last, chunk);
}

void LogSource::WatchBudget() {
  if (is_stopped_ || settings_.budget == 0 || file_bytes_ < settings_.budget) return;
  is_stopped_ = true;
  collector_.StopLogs();
  losses_.Set("log.budget_spent", Severity::kInfo, 1,
              "the trace reached logbudget=: calls since then are counted in trees only",
              "raise logbudget=");
}

}  // namespace jtrace::calls
