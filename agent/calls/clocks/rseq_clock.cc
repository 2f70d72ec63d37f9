#include "agent/calls/clocks/rseq_clock.h"

#include <time.h>

#include "agent/signal_safe/atomic_access.h"
#include "agent/signal_safe/rseq_area.h"

namespace jtrace::calls {

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
  // A sleep that ends before the thread has left its processor proves nothing: then tries longer.
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
