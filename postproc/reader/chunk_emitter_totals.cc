// The records that follow all chunks: totals of the trees and of the hooks.
#include "postproc/reader/chunk_emitter.h"

namespace jtrace::postproc {

void ChunkEmitter::EmitTrees() {
  const int64_t end = StreamTime(definitions_.end_time());
  AgentTrees& trees = definitions_.trees();
  std::vector<RoutineId> path;
  size_t lost = 0;  // 1: the path begins with [lost]
  uint32_t last_thread = 0;
  for (const AgentTrees::Visit& visit : trees.DepthFirst()) {
    const TreeNode& it = *trees.FindNode(visit.node);
    if (visit.level == 0) {
      path.clear();
      lost = it.lost ? 1 : 0;
      if (it.lost) path.push_back(model_.InternRoutine("[lost]"));
    }
    path.resize(visit.level + lost);
    const size_t shared = visit.level == 0 || it.thread != last_thread ? 0 : path.size();
    last_thread = it.thread;
    path.push_back(definitions_.Routine(it.routine));
    visitor_.OnNode(MakeAt(it.thread, end), it.counts, path, shared);
  }
  for (const AgentTrees::RootCounts& root : trees.roots()) {
    visitor_.OnNode(MakeAt(root.thread, end), root.counts, {}, 0);
  }
  const RoutineId flat = model_.InternRoutine("[flat]");
  for (const AgentTrees::FlatCount& it : definitions_.trees().flat()) {
    NodeCounts counts;
    counts.calls = StreamTime(it.calls);
    if (it.jitted != 0) counts.calls_jitted = StreamTime(it.jitted);
    const RoutineId path[] = {flat, definitions_.Routine(it.routine)};
    visitor_.OnNode(MakeAt(it.thread, end), counts, path, 0);
  }
  EmitHooks(end);
  EmitBlocks(end);
}

void ChunkEmitter::EmitBlocks(int64_t time) {
  definitions_.blocks().ForEach(
      definitions_.trees(), [this](uint32_t id) { return definitions_.ClassName(id); },
      [this](uint32_t id) { return std::string(model_.RoutineName(definitions_.Routine(id))); },
      [&](std::string_view op, const std::vector<std::string>& args) {
        visitor_.OnNotice({time, ThreadId()}, op, args);
      });
}

void ChunkEmitter::EmitHooks(int64_t time) {
  for (const AgentHooks::Calls& it : definitions_.hooks().calls()) {
    const HookInfo hook = definitions_.Hook(it.hook);
    HookRecord record;
    record.hook = hook.frame;
    record.kind = hook.kind;
    record.caller = definitions_.HookCaller(it);
    record.sums = it.sums;
    uint32_t thread = it.thread;
    if (it.node != 0 && !it.position_unknown) record.path = PathOf(it.node, thread);
    visitor_.OnHook(MakeAt(thread, time), record);
  }
}

}  // namespace jtrace::postproc
