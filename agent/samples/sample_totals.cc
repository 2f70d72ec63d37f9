#include "agent/samples/sample_totals.h"

#include <atomic>
#include <fstream>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "agent/samples/handler/sample_handler.h"
#include "agent/samples/timers.h"

namespace jtrace::samples {

std::vector<SampleLoss> HandlerLosses() {
  const SampleCounters& counters = sample_counters;
  const auto value = [](const std::atomic<uint64_t>& counter) {
    return counter.load(std::memory_order_relaxed);
  };
  std::vector<SampleLoss> losses = {
      {"sample.ring_full", value(counters.ring_full)},
      {"sample.nested", value(counters.nested)},
      {"sample.no_room", value(counters.no_room)},
      {"sample.stale", value(counters.stale)},
      {"sample.position_unknown", value(counters.position_unknown)},
      {"sample.memory_wrong", value(counters.memory_wrong)},
      {"sample.blocker_unread", value(counters.blocker_unread)},
  };
  for (int i = 1; i < static_cast<int>(WalkNote::kCount); ++i) {
    losses.push_back(
        {absl::StrCat("walk.", WalkNoteName(static_cast<WalkNote>(i))), value(counters.notes[i])});
  }
  return losses;
}

HandlerTimes MeasuredHandlerTimes() {
  const SampleCounters& counters = sample_counters;
  HandlerTimes times;
  times.total_ns = counters.cost_ns.load(std::memory_order_relaxed);
  for (size_t i = 0; i < times.buckets.size(); ++i) {
    times.buckets[i] = counters.cost[i].load(std::memory_order_relaxed);
  }
  return times;
}

HandlerCost CostSince(const HandlerTimes& before) {
  const HandlerTimes now = MeasuredHandlerTimes();
  HandlerCost result;
  result.total_ns = now.total_ns - before.total_ns;
  for (size_t i = 0; i < now.buckets.size(); ++i) {
    result.samples += now.buckets[i] - before.buckets[i];
  }
  if (result.samples == 0) return {};
  result.average_ns = result.total_ns / result.samples;
  uint64_t below = 0;
  for (size_t i = 0; i < now.buckets.size(); ++i) {
    const uint64_t before_it = below;
    below += now.buckets[i] - before.buckets[i];
    const uint64_t cost = signal_safe::CostOfBucket(static_cast<int>(i));
    if (2 * before_it < result.samples && 2 * below >= result.samples) result.p50_ns = cost;
    if (100 * before_it < 99 * result.samples && 100 * below >= 99 * result.samples) {
      result.p99_ns = cost;
    }
  }
  return result;
}

void TickWatch::Begin(std::chrono::nanoseconds silence, int signal) {
  silence_ns_ = static_cast<uint64_t>(silence.count());
  signal_ = signal;
  seen_.clear();
}

TickWatch::Seen& TickWatch::SeenOf(uint32_t index) {
  if (seen_.size() <= index) seen_.resize(index + 1);
  return seen_[index];
}

void TickWatch::NoteTick(uint32_t index) { SeenOf(index).heard = true; }

void TickWatch::Look(uint32_t index, const ThreadSlot& slot) {
  if (silence_ns_ == 0) return;
  Seen& seen = SeenOf(index);
  if (slot.state.load(std::memory_order_acquire) != SlotState::kAttached) {
    seen = {};
    return;
  }
  const uint64_t cpu_ns = ThreadCpuNanos(slot.os_tid);
  if (seen.tid != slot.os_tid || seen.heard) {
    seen = {.tid = slot.os_tid, .cpu_ns = cpu_ns};
    return;
  }
  // Twice, because the slot may have changed its thread since the last look, and samples may be in
  // the ring.
  if (seen.reported || cpu_ns < seen.cpu_ns + silence_ns_ || ++seen.silent_looks < 2) return;
  seen.reported = true;
  Report(slot);
}

void TickWatch::Report(const ThreadSlot& slot) {
  const int fd = slot.perf_fd.load(std::memory_order_relaxed);
  if (BlocksSignal(slot.os_tid, signal_)) {
    ++blocked_;
  } else if (fd >= 0 && !IsPerfTimer(fd)) {
    ++closed_;
  } else {
    ++other_;
  }
}

void TickWatch::AppendTo(std::vector<SampleLoss>& losses) const {
  losses.push_back({"sample.signal_blocked", blocked_});
  losses.push_back({"sample.timer_closed", closed_});
  losses.push_back({"sample.timer_silent", other_});
}

bool BlocksSignal(pid_t tid, int signal) {
  std::ifstream status(absl::StrCat("/proc/self/task/", tid, "/status"));
  for (std::string line; std::getline(status, line);) {
    absl::string_view mask = line;
    if (!absl::ConsumePrefix(&mask, "SigBlk:\t")) continue;
    uint64_t bits = 0;
    return absl::SimpleHexAtoi(mask, &bits) && (bits >> (signal - 1) & 1) != 0;
  }
  return false;
}

}  // namespace jtrace::samples
