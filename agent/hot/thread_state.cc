#include "agent/hot/thread_state.h"

namespace jtrace::hot {

constinit std::atomic<Arena*> published_arena{nullptr};

namespace {

ThreadState* SearchBucket(const Arena* arena, uint64_t tid) {
  // Longer than any chain: only a chain that is changed meanwhile could be circular.
  constexpr int kMaxSteps = 1 << 20;
  Ref ref = ReadAcquire(arena->buckets[tid % kBucketCount]);
  for (int step = 0; ref != 0 && step < kMaxSteps; ++step) {
    auto* state = At<ThreadState>(arena, ref);
    if (ReadRelaxed(state->tid) == tid) return state;
    ref = ReadAcquire(state->next);
  }
  return nullptr;
}

}  // namespace

ThreadState* FindThreadState(const Arena* arena, uint64_t tid) {
  // A search may be at a state while its memory is released and leads elsewhere: then a state that
  // it did not find may still be there.
  constexpr int kMaxTries = 8;
  for (int i = 0; i < kMaxTries; ++i) {
    const uint64_t frees = ReadAcquire(arena->frees);
    ThreadState* state = SearchBucket(arena, tid);
    if (state != nullptr || ReadAcquire(arena->frees) == frees) return state;
  }
  return nullptr;
}

void MarkThreadEnded(Arena* arena, uint64_t tid) {
  ThreadState* state = FindThreadState(arena, tid);
  if (state == nullptr) return;
  if (std::atomic_ref(state->ended).exchange(1, std::memory_order_acq_rel) != 0) return;
  std::atomic_ref<uint64_t> ended(arena->ended);
  uint64_t head = ended.load(std::memory_order_relaxed);
  do {
    WriteRelaxed(state->ended_next, static_cast<Ref>(head));
  } while (!ended.compare_exchange_weak(head, RefOf(arena, state), std::memory_order_release,
                                        std::memory_order_relaxed));
}

}  // namespace jtrace::hot
