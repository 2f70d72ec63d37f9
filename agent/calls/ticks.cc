#include "agent/calls/ticks.h"

#include <sys/prctl.h>
#include <time.h>

#include "agent/base/clock.h"
#include "agent/calls/native_methods.h"
#include "agent/signal_safe/probe_memory.h"
#include "agent/signal_safe/rseq_area.h"

namespace jtrace::calls {

TickScale::TickScale(bool counter) : counter_(counter), first_(counter ? Read() : Reading{0, 0}) {}

// The tightest of a few pairs: the time between the two readings is their error.
TickScale::Reading TickScale::Read() {
  constexpr int kTries = 5;
  Reading best = {0, 0};
  uint64_t best_gap = UINT64_MAX;
  for (int i = 0; i < kTries; ++i) {
    const uint64_t before = jtrace_ticks();
    const uint64_t nanos = MonotonicNanos();
    const uint64_t gap = jtrace_ticks() - before;
    if (gap < best_gap) {
      best_gap = gap;
      best = {before + gap / 2, nanos};
    }
  }
  return best;
}

void TickScale::Update() {
  if (!counter_) return;
  constexpr uint64_t kShortestNanos = 10'000'000;
  const uint64_t age = MonotonicNanos() - first_.nanos;
  if (age < kShortestNanos) {
    const timespec rest = {0, static_cast<long>(kShortestNanos - age)};
    nanosleep(&rest, nullptr);
  }
  const Reading now = Read();
  nanos_per_tick_ =
      static_cast<double>(now.nanos - first_.nanos) / static_cast<double>(now.ticks - first_.ticks);
}

uint64_t TickScale::Nanos(uint64_t ticks) const {
  return counter_ ? static_cast<uint64_t>(static_cast<double>(ticks) * nanos_per_tick_) : ticks;
}

uint64_t TickScale::NanosUp(uint64_t ticks) const {
  return counter_ && ticks != 0 ? Nanos(ticks) + 1 : ticks;
}

uint64_t TickScale::Monotonic(uint64_t ticks) const {
  if (!counter_) return ticks;
  // Signed: a thread's clock may have been read before the first reading.
  const auto since = static_cast<double>(static_cast<int64_t>(ticks - first_.ticks));
  return first_.nanos + static_cast<uint64_t>(static_cast<int64_t>(since * nanos_per_tick_));
}

uint64_t TickScale::Now() const { return counter_ ? jtrace_ticks() : MonotonicNanos(); }

TickThread::TickThread(uint64_t& tick, std::chrono::nanoseconds period) : tick_(tick) {
  Tick();
  thread_.Start("jtrace clock", [this, period] { Run(period); });
}

TickThread::~TickThread() {
  stopping_.store(true, std::memory_order_relaxed);
  thread_.Join();
}

void TickThread::Run(std::chrono::nanoseconds period) {
  prctl(PR_SET_TIMERSLACK, 1000);
  const timespec rest = {0, static_cast<long>(period.count())};
  while (!stopping_.load(std::memory_order_relaxed)) {
    nanosleep(&rest, nullptr);
    Tick();
  }
}

void TickThread::Tick() {
  const uint64_t now = MonotonicNanos();
  signal_safe::WriteRelaxed(tick_, now - now % 1000);
}

uint64_t* CurrentRseqWord() {
  struct rseq* area = signal_safe::RseqArea();
  if (area == nullptr) return nullptr;
  return reinterpret_cast<uint64_t*>(reinterpret_cast<char*>(area) +
                                     offsetof(struct rseq, rseq_cs));
}

void InitializeRseqDescriptor(signal_safe::RseqDescriptor& descriptor) {
  // A range without code: its own first byte. The abort address must be outside of it.
  descriptor = {.version = 0,
                .flags = 0,
                .start = reinterpret_cast<uintptr_t>(&descriptor),
                .length = 1,
                .abort = reinterpret_cast<uintptr_t>(&descriptor.after_signature),
                .signature = signal_safe::kRseqSignature,
                .after_signature = 0};
}

bool RseqShowsSwitches(const signal_safe::RseqDescriptor& descriptor) {
  uint64_t* word = CurrentRseqWord();
  if (word == nullptr) return false;
  const auto armed = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(&descriptor));
  signal_safe::WriteRelaxed(*word, armed);
  // A sleep that ends before the thread has left the processor proves nothing: a longer one does.
  bool cleared = false;
  timespec moment = {0, 1'000'000};
  for (int sleeps = 0; sleeps < 8 && !cleared; ++sleeps, moment.tv_nsec *= 2) {
    nanosleep(&moment, nullptr);
    cleared = signal_safe::ReadRelaxed(*word) != armed;
  }
  signal_safe::WriteRelaxed(*word, uint64_t{0});
  return cleared;
}

}  // namespace jtrace::calls
