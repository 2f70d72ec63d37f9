#include "agent/signal_safe/thread_state.h"

#include "agent/signal_safe/arena.h"

namespace jtrace::signal_safe {

constinit std::atomic<Arena*> published_arena{nullptr};

namespace {

ThreadState* SearchBucket(const Arena* arena, uint64_t java_tid) {
  // More than a bucket has states: only a list that is changed meanwhile could be circular.
  constexpr int kMaxSteps = 1 << 20;
  Ref ref = ReadAcquire(arena->buckets[java_tid % kBucketCount]);
  for (int step = 0; ref != 0 && step < kMaxSteps; ++step) {
    auto* state = At<ThreadState>(arena, ref);
    if (ReadRelaxed(state->java_tid) == java_tid) return state;
    ref = ReadAcquire(state->next);
  }
  return nullptr;
}

}  // namespace

ThreadState* FindThreadState(const Arena* arena, uint64_t java_tid) {
  // The memory of a state may be released while the search is there, so that its link leads
  // elsewhere: the search may then miss a state that exists.
  constexpr int kMaxTries = 8;
  for (int i = 0; i < kMaxTries; ++i) {
    const uint64_t frees = ReadAcquire(arena->frees);
    ThreadState* state = SearchBucket(arena, java_tid);
    if (state != nullptr || ReadAcquire(arena->frees) == frees) return state;
  }
  return nullptr;
}

void NotifyThreadEnded(Arena* arena, uint64_t java_tid) {
  ThreadState* state = FindThreadState(arena, java_tid);
  if (state == nullptr) return;
  if (std::atomic_ref(state->ended).exchange(1, std::memory_order_acq_rel) != 0) return;
  std::atomic_ref<uint64_t> ended(arena->ended);
  uint64_t head = ended.load(std::memory_order_relaxed);
  do {
    WriteRelaxed(state->ended_next, static_cast<Ref>(head));
  } while (!ended.compare_exchange_weak(head, RefOf(arena, state), std::memory_order_release,
                                        std::memory_order_relaxed));
}

}  // namespace jtrace::signal_safe
