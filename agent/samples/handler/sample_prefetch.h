// Prefetches the memory that a sample reads. The handler calls it first.
#pragma once

#include <ucontext.h>

#include <cstddef>

#include "agent/samples/handler/sample_handler.h"
#include "agent/samples/handler/thread_slot.h"
#include "agent/samples/walk/frame_cache.h"
#include "agent/signal_safe/machine_context.h"

namespace jtrace::samples {

inline constexpr size_t kCacheLine = 64;

// `for_store`: the memory will be written.
template <bool for_store>
void PrefetchRange(const void* begin, size_t bytes) {
  const char* const at = static_cast<const char*>(begin);
  for (size_t i = 0; i < bytes; i += kCacheLine) __builtin_prefetch(at + i, for_store ? 1 : 0);
}

// Little of this memory is in the processor's caches when a sample begins, and the walk reads most
// of it one load after the other. Prefetches overlap. Lines that are never read cost little: the
// amounts are those of usual stacks.
inline void PrefetchSample(const SampleHandlerConfig& config, const ThreadSlot* slot,
                           const ucontext_t& context) {
  constexpr size_t kStackBytes = 1536, kWalkedFrames = 4, kRememberedFrames = 16, kFrames = 24,
                   kPushedFrames = 8, kRecordBytes = 512;
  PrefetchCachedFrame(signal_safe::InterruptedPc(context), true);
  if (slot == nullptr) return;
  PrefetchRange<false>(slot, sizeof(ThreadSlot));
  PrefetchRange<false>(config.vm, config.vm != nullptr ? sizeof(VmLayout) : 0);
  PrefetchRange<false>(reinterpret_cast<const void*>(signal_safe::InterruptedSp(context)),
                       kStackBytes);
  PrefetchRange<true>(slot->chain_storage, kPushedFrames * sizeof(Frame));
  PrefetchRange<true>(slot->ring.Next(), kRecordBytes);
  const LastWalk::Storage* const memory = slot->last_walk;
  const uint32_t count = slot->remembered_frames;
  if (memory == nullptr || count == 0) return;
  PrefetchRange<true>(memory->walked, kWalkedFrames * sizeof(WalkedFrame));
  const uint32_t first = count > kRememberedFrames ? count - kRememberedFrames : 0;
  PrefetchRange<false>(&memory->remembered[first], (count - first) * sizeof(WalkedFrame));
  const uint32_t end = memory->remembered[count - 1].frames_end;
  const uint32_t frame = end > kFrames ? end - kFrames : 0;
  PrefetchRange<false>(&memory->frames[frame], (end - frame) * sizeof(Frame));
}

}  // namespace jtrace::samples
