#include "agent/hot/thread_state.h"

namespace jtrace::hot {

constinit std::atomic<Arena*> published_arena{nullptr};

ThreadState* FindThreadState(const Arena* arena, uint64_t tid) {
  // Longer than any chain: only a chain that is changed under our feet could go in circles.
  constexpr int kMaxSteps = 1 << 20;
  Ref ref = ReadAcquire(arena->buckets[tid % kBucketCount]);
  for (int step = 0; ref != 0 && step < kMaxSteps; ++step) {
    auto* state = At<ThreadState>(arena, ref);
    if (ReadRelaxed(state->tid) == tid) return state;
    ref = ReadRelaxed(state->next);
  }
  return nullptr;
}

void MarkThreadEnded(const Arena* arena, uint64_t tid) {
  ThreadState* state = FindThreadState(arena, tid);
  if (state != nullptr) WriteRelease(state->ended, uint32_t{1});
}

}  // namespace jtrace::hot
