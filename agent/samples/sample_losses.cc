#include "agent/samples/sample_losses.h"

#include <atomic>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "agent/samples/handler/sample_handler.h"

namespace jtrace::samples {
namespace {

// A kind of loss. Its count is the sum of its counters: the handler's, the sampler's, or both.
struct SampleLoss {
  absl::string_view name;
  Severity severity;
  absl::string_view what;
  absl::string_view advice;
  std::atomic<uint64_t> SampleCounters::*by_handler = nullptr;
  uint64_t SamplerCounters::*by_sampler = nullptr;
};

// "sample.position_unknown" is SampleSource's, which knows whether a position is expected at all.
constexpr SampleLoss kSampleLosses[] = {
    {"sample.ring_full", Severity::kWarning, "samples dropped because a thread's ring was full",
     "keep less of each stack: stack=app; or sample less often: interval=2ms",
     &SampleCounters::ring_full},
    {"sample.lost_ticks", Severity::kInfo,
     "ticks of samples that were dropped, or not taken before their thread or the recording ended",
     "", &SampleCounters::lost_ticks, &SamplerCounters::lost_ticks},
    {"sample.blocker_unread", Severity::kInfo,
     "waits whose object's class was not read: with ZGC, or during a collection",
     "codes=+monitor records monitors by class", &SampleCounters::blocker_unread},
    {"sample.handler_replaced", Severity::kError,
     "times that the program took over the samples' signal, which ended sampling",
     "another signal that the program leaves alone: signal=26", nullptr,
     &SamplerCounters::handler_replaced},
    {"sample.last_walk_wrong", Severity::kWarning,
     "remembered stacks that a whole walk disproved (check_last_walk)", "",
     &SampleCounters::last_walk_wrong},
    {"sample.nested", Severity::kWarning, "samples dropped inside another sample", "",
     &SampleCounters::nested},
    {"sample.no_room", Severity::kWarning,
     "samples dropped because their thread's alternate stack has no room for them",
     "a larger sigaltstack in the program: 16 KiB", &SampleCounters::no_room},
    {"sample.stale", Severity::kInfo,
     "timer signals that arrived after their thread's timer was off", "", &SampleCounters::stale},
    {"sample.no_kernel_memory", Severity::kWarning,
     "threads sampled without kernel frames: the kernel gave no memory for them",
     "sysctl kernel.perf_event_mlock_kb=65536", nullptr, &SamplerCounters::no_kernel_memory},
    {"sample.thread_not_attached", Severity::kWarning,
     "threads that could not be sampled: the kernel gave no timer",
     "raise the limits of open files and of timers: ulimit -n, ulimit -i", nullptr,
     &SamplerCounters::no_timer},
    {"sample.no_slot", Severity::kWarning,
     "threads that could not be sampled: 16,384 were sampled already",
     "sample fewer: threads=worker-*", nullptr, &SamplerCounters::no_slot},
    {"sample.no_slot_memory", Severity::kWarning,
     "threads that could not be sampled: no address space was left",
     "ulimit -v unlimited, or sysctl vm.overcommit_memory=0; or sample fewer: threads=worker-*",
     nullptr, &SamplerCounters::no_slot_memory},
    {"sample.signal_blocked", Severity::kWarning,
     "threads without samples that used the processor for a second: they block the timer's signal",
     "another signal, as signal=26, or leave it out of the program's sigprocmask", nullptr,
     &SamplerCounters::signal_blocked},
    {"sample.timer_closed", Severity::kWarning,
     "threads without further samples: the program closed the descriptors of their timers",
     "do not let it close what it did not open (closefrom, close_range)", nullptr,
     &SamplerCounters::timer_closed},
    {"sample.timer_silent", Severity::kWarning,
     "threads that used the processor for a second without a tick of their timer",
     "timer=perf:cpu-clock", nullptr, &SamplerCounters::timer_silent},
    {"sample.thread_ended", Severity::kInfo, "threads that ended before they got a timer", "",
     nullptr, &SamplerCounters::thread_ended},
    {"sample.timer_fallback", Severity::kInfo,
     "threads sampled by POSIX timers, at most once a kernel tick, because they got no perf event: "
     "a quarter of the descriptors is for those",
     "more descriptors: ulimit -n 65536", nullptr, &SamplerCounters::timer_fallback},
};
constexpr int kMissingReasons = static_cast<int>(MissingReason::kCount);

uint64_t CountOf(const SampleLoss& loss, const SamplerCounters& sampler) {
  uint64_t count = 0;
  if (loss.by_handler != nullptr) {
    count += (sample_counters.*loss.by_handler).load(std::memory_order_relaxed);
  }
  if (loss.by_sampler != nullptr) count += sampler.*loss.by_sampler;
  return count;
}

// The loss of a walk that ended early, or has a hole, for the reason of its name.
LossRow WalkLoss(MissingReason reason) {
  const std::string name = MissingReasonName(reason);
  return {.name = absl::StrCat("walk.", name),
          .severity = Severity::kWarning,
          .what = absl::StrCat("stacks cut short: ", name),
          .advice = ""};
}

}  // namespace

std::vector<uint64_t> SampleLossCounts(const SamplerCounters& sampler) {
  std::vector<uint64_t> counts;
  for (const SampleLoss& loss : kSampleLosses) counts.push_back(CountOf(loss, sampler));
  for (int i = 1; i < kMissingReasons; ++i) {
    counts.push_back(sample_counters.missing[i].load(std::memory_order_relaxed));
  }
  return counts;
}

std::vector<LossRow> SampleLossesSince(const std::vector<uint64_t>& before,
                                       const SamplerCounters& sampler) {
  std::vector<LossRow> rows;
  for (const SampleLoss& loss : kSampleLosses) {
    rows.push_back({.name = std::string(loss.name),
                    .severity = loss.severity,
                    .what = std::string(loss.what),
                    .advice = std::string(loss.advice)});
  }
  for (int i = 1; i < kMissingReasons; ++i) rows.push_back(WalkLoss(static_cast<MissingReason>(i)));
  const std::vector<uint64_t> now = SampleLossCounts(sampler);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].count = now[i] - (i < before.size() ? before[i] : 0);
  }
  std::erase_if(rows, [](const LossRow& row) { return row.count == 0; });
  return rows;
}

}  // namespace jtrace::samples
