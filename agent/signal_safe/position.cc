#include "agent/signal_safe/position.h"

#include "agent/signal_safe/arena.h"
#include "agent/signal_safe/atomic_access.h"
#include "agent/signal_safe/root_path.h"
#include "agent/signal_safe/routine_id.h"
#include "agent/signal_safe/thread_state.h"
#include "agent/signal_safe/tree_node.h"

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

}  // namespace jtrace::signal_safe
