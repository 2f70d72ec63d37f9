#include "agent/samples/handler/thread_labels.h"

#include <atomic>

namespace jtrace::samples {
namespace {

// Initial-exec, so reading it never allocates.
constinit thread_local std::atomic<uint32_t> tls_labels __attribute__((tls_model("initial-exec"))) =
    kNoLabels;

// The labels of virtual threads: id << kNumberBits | number; 0: the place is free. A thread's place
// is one of the kWindow from its id's hash on. Only the thread itself writes, reads and frees its
// place, so others can at most take free places.
constexpr int kNumberBits = 16;
constexpr uint64_t kNumberMask = (uint64_t{1} << kNumberBits) - 1;
constexpr int kSlotBits = 16;
constexpr uint32_t kSlots = 1u << kSlotBits;
constexpr uint32_t kWindow = 64;
constinit std::atomic<uint64_t> virtual_labels[kSlots] = {};

std::atomic<uint64_t>& SlotOf(uint64_t tid, uint32_t step) {
  constexpr uint64_t kGolden = 0x9E37'79B9'7F4A'7C15;
  const auto hash = static_cast<uint32_t>(tid * kGolden >> (64 - kSlotBits));
  return virtual_labels[(hash + step) % kSlots];
}

// Returns the place of the thread's labels; null: it has none.
std::atomic<uint64_t>* Find(uint64_t tid) {
  for (uint32_t step = 0; step < kWindow; ++step) {
    std::atomic<uint64_t>& place = SlotOf(tid, step);
    if (place.load(std::memory_order_relaxed) >> kNumberBits == tid) return &place;
  }
  return nullptr;
}

bool Take(uint64_t tid, uint64_t word) {
  for (uint32_t step = 0; step < kWindow; ++step) {
    uint64_t free = 0;
    if (SlotOf(tid, step).compare_exchange_strong(free, word, std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

bool SetLabelsOfVirtualThread(uint32_t number, uint64_t tid) {
  const uint64_t word = number == kNoLabels ? 0 : tid << kNumberBits | number;
  if (std::atomic<uint64_t>* const place = Find(tid); place != nullptr) {
    place->store(word, std::memory_order_relaxed);
    return true;
  }
  return word == 0 || Take(tid, word);
}

}  // namespace

bool SetLabels(uint32_t number, uint64_t virtual_tid) {
  if (virtual_tid != 0) return SetLabelsOfVirtualThread(number, virtual_tid);
  tls_labels.store(number, std::memory_order_relaxed);
  return true;
}

uint32_t LabelsOfVirtualThread(uint64_t virtual_tid) {
  const std::atomic<uint64_t>* const place = Find(virtual_tid);
  if (place == nullptr) return kNoLabels;
  return static_cast<uint32_t>(place->load(std::memory_order_relaxed) & kNumberMask);
}

// A virtual thread that cannot be determined has no labels rather than its carrier's.
uint32_t LabelsOf(const Identity& identity, const ThreadSlot& slot) {
  const uint64_t own = slot.java_tid.load(std::memory_order_relaxed);
  if (identity.java_tid == own) return tls_labels.load(std::memory_order_relaxed);
  return identity.known ? LabelsOfVirtualThread(identity.java_tid) : kNoLabels;
}

}  // namespace jtrace::samples
