#include "agent/writer/log_source.h"

#include <algorithm>
#include <utility>

#include "proto/trace_format.h"

namespace jtrace::writer {
namespace {

// Turns a run into logs, with events where its marks are.
class RunEncoder {
 public:
  // `now`: the time of everything without a clock.
  RunEncoder(const SessionClock& clock, const LogRun& run, uint32_t thread, uint64_t now,
             proto::Chunk& chunk)
      : clock_(clock), run_(run), thread_(thread), now_(now), chunk_(chunk) {}

  void Encode() {
    size_t from = 0;
    for (const LogMark& mark : run_.marks) {
      AddLog(from, mark.index);
      from = mark.index;
      AddMark(mark);
    }
    AddLog(from, run_.ops.size());
  }

 private:
  uint64_t TimeOf(size_t index) const {
    return run_.times.empty() ? now_ : clock_.Since(run_.times[index]);
  }

  void AddLog(size_t from, size_t to) {
    if (from == to) return;
    proto::EventLog* log = chunk_.add_log();
    log->set_thread(thread_);
    log->set_time_ns(TimeOf(from));
    log->mutable_op()->Add(run_.ops.begin() + from, run_.ops.begin() + to);
    if (run_.times.empty()) return;
    log->mutable_delta_ns()->Reserve(static_cast<int>(to - from));
    uint64_t last = TimeOf(from);
    for (size_t i = from; i < to; ++i) {
      const uint64_t time = TimeOf(i);
      log->add_delta_ns(time - last);
      last = time;
    }
  }

  // Just before the record behind the mark, as far as that is after the one before it: at equal
  // times logs come before events.
  void AddMark(const LogMark& mark) {
    const uint64_t before = mark.index == 0 ? 0 : TimeOf(mark.index - 1);
    const bool is_last = mark.index == run_.ops.size();
    uint64_t time = is_last ? before : TimeOf(mark.index);
    if (is_last && mark.index == 0) time = now_;
    if (!is_last && time > before) --time;
    if (mark.kind == hot::LogKind::kDropped) {
      AddEvent(time, format::kSession, format::kSessionLoss, static_cast<int64_t>(2 * mark.value));
    } else {
      const uint64_t off = std::max(before, time > mark.value ? time - mark.value : 0);
      AddEvent(off, format::kThreadSwitch, format::kSwitchOn | format::kEnd, 0);
      AddEvent(time, format::kThreadSwitch, format::kSwitchOn, 0);
    }
  }

  void AddEvent(uint64_t time, uint32_t major, uint32_t minor, int64_t value) {
    proto::Event* event = chunk_.add_event();
    event->set_time_ns(time);
    event->set_thread(thread_);
    event->set_major(major);
    event->set_minor(minor);
    event->set_value(value);
  }

  const SessionClock& clock_;
  const LogRun& run_;
  const uint32_t thread_;
  const uint64_t now_;
  proto::Chunk& chunk_;
};

}  // namespace

LogSource::LogSource(const SessionClock& clock, LogCollector& collector, TreeSource trees,
                     jvmti::ThreadRegistry& threads, Losses& losses, Budget budget)
    : clock_(clock),
      collector_(collector),
      trees_(std::move(trees)),
      threads_(threads),
      losses_(losses),
      budget_(std::move(budget)) {}

void LogSource::Poll(proto::Chunk& chunk) {
  trees_.Poll(chunk);
  is_behind_ = collector_.Poll([&](const LogRun& run) { Add(run, chunk); });
}

void LogSource::Add(const LogRun& run, proto::Chunk& chunk) {
  RunEncoder(clock_, run, threads_.NumberOfJava(run.java_tid), clock_.Now(), chunk).Encode();
}

void LogSource::Seal(uint64_t time_ns, proto::Chunk& chunk) {
  trees_.OnThreadEnd([&](const hot::ThreadState& state) {
    collector_.Finish(state, [&](const LogRun& run) { Add(run, chunk); });
  });
  trees_.Seal(time_ns, chunk);
  WatchBudget();
  losses_.Set("log.dropped", Severity::kInfo, collector_.dropped_calls(),
              "calls that the log had no room for: counted, but without their order and times",
              "log fewer methods: include=com.acme.**, or use record=tree");
}

void LogSource::Finish(proto::Chunk& chunk) {
  collector_.FinishAll([&](const LogRun& run) { Add(run, chunk); });
}

void LogSource::WatchBudget() {
  if (is_stopped_ || budget_.bytes == 0 || budget_.written() < budget_.bytes) return;
  is_stopped_ = true;
  collector_.StopLogs();
  losses_.Set("log.budget_spent", Severity::kInfo, 1,
              "the trace reached logbudget=: calls since then are counted in trees only",
              "raise logbudget=");
}

}  // namespace jtrace::writer
