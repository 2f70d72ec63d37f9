#include "agent/signal_safe/position.h"

namespace jtrace::signal_safe {

Position ReadPosition(uint64_t java_tid) {
  const Arena* arena = published_arena.load(std::memory_order_acquire);
  if (arena == nullptr || java_tid == 0) return {java_tid, 0, false};
  const ThreadState* state = FindThreadState(arena, java_tid);
  // No state: the thread has not entered any probed method, so it is at its root.
  if (state == nullptr) return {java_tid, 0, true};
  const uint64_t current = ReadRelaxed(state->current);
  if (current == 0) return {java_tid, 0, true};
  const auto* node = reinterpret_cast<const Node*>(current);
  const uint64_t call_site = ReadRelaxed(node->call_site);
  return {java_tid, call_site << kPositionCallSiteShift | RefOf(arena, node), true};
}

uint32_t ReadCallPath(uint64_t java_tid, uint32_t* routines, uint32_t most) {
  const Arena* arena = published_arena.load(std::memory_order_acquire);
  if (arena == nullptr || java_tid == 0) return 0;
  const ThreadState* state = FindThreadState(arena, java_tid);
  // The memory of a thread that has ended may be used again at any moment.
  if (state == nullptr || ReadAcquire(state->ended) != 0) return 0;
  const auto* node = reinterpret_cast<const Node*>(ReadRelaxed(state->current));
  if (node == nullptr) return 0;
  uint32_t count = 0;
  RootPath at(arena, *node);
  do {
    const uint32_t routine = ReadRelaxed(at->routine);
    if (routine != 0 && routine != kPrunedRoutine) routines[count++] = IdOf(routine);
  } while (count < most && at.Up());
  return count;
}

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
