#include "agent/probes/rseq_word.h"

#include <time.h>

#include "agent/hot/rseq_area.h"

namespace jtrace {

uint64_t* CurrentRseqWord() {
  struct rseq* area = hot::RseqArea();
  if (area == nullptr) return nullptr;
  return reinterpret_cast<uint64_t*>(reinterpret_cast<char*>(area) +
                                     offsetof(struct rseq, rseq_cs));
}

void InitializeRseqDescriptor(hot::RseqDescriptor& descriptor) {
  // A range without code: its own first byte. The abort address must be outside of it.
  descriptor = {.version = 0,
                .flags = 0,
                .start = reinterpret_cast<uintptr_t>(&descriptor),
                .length = 1,
                .abort = reinterpret_cast<uintptr_t>(&descriptor.after_signature),
                .signature = hot::kRseqSignature,
                .after_signature = 0};
}

bool RseqShowsSwitches(const hot::RseqDescriptor& descriptor) {
  uint64_t* word = CurrentRseqWord();
  if (word == nullptr) return false;
  const auto armed = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(&descriptor));
  hot::WriteRelaxed(*word, armed);
  // A sleep that ends before the thread has left the processor proves nothing: a longer one does.
  bool cleared = false;
  timespec moment = {0, 1'000'000};
  for (int sleeps = 0; sleeps < 8 && !cleared; ++sleeps, moment.tv_nsec *= 2) {
    nanosleep(&moment, nullptr);
    cleared = hot::ReadRelaxed(*word) != armed;
  }
  hot::WriteRelaxed(*word, uint64_t{0});
  return cleared;
}

}  // namespace jtrace
