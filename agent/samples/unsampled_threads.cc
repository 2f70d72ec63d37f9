#include "agent/samples/unsampled_threads.h"

#include <fstream>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "agent/base/clock.h"
#include "agent/base/perf_event.h"

namespace jtrace::samples {

void UnsampledThreads::Begin(absl::Duration silence, int signal) {
  silence_ns_ = static_cast<uint64_t>(absl::ToInt64Nanoseconds(silence));
  signal_ = signal;
  states_.clear();
}

UnsampledThreads::WatchedThread& UnsampledThreads::StateAt(uint32_t index) {
  if (states_.size() <= index) states_.resize(index + 1);
  return states_[index];
}

void UnsampledThreads::NoteSample(uint32_t index) { StateAt(index).sampled = true; }

void UnsampledThreads::Check(uint32_t index, const ThreadSlot& slot) {
  if (silence_ns_ == 0) return;
  WatchedThread& state = StateAt(index);
  if (slot.state.load(std::memory_order_acquire) != SlotState::kAttached) {
    state = {};
    return;
  }
  const uint64_t cpu_ns = ThreadCpuNanos(slot.os_tid);
  if (state.tid != slot.os_tid || state.sampled) {
    state = {.tid = slot.os_tid, .cpu_ns = cpu_ns};
    return;
  }
  // Twice, because the slot may have got another thread since the last check, and samples may still
  // be in its ring.
  if (state.reported || cpu_ns < state.cpu_ns + silence_ns_ || ++state.silent_checks < 2) return;
  state.reported = true;
  CountSilent(slot);
}

void UnsampledThreads::CountSilent(const ThreadSlot& slot) {
  const int fd = slot.perf_fd.load(std::memory_order_relaxed);
  if (BlocksSignal(slot.os_tid, signal_)) {
    ++counters_.signal_blocked;
  } else if (fd >= 0 && !IsPerfEvent(fd)) {
    ++counters_.timer_closed;
  } else {
    ++counters_.timer_silent;
  }
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
