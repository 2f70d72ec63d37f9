// The records that follow all chunks: totals of the trees and of the hooks.
#include <optional>

#include "postproc/reader/chunk_emitter.h"

namespace jtrace::postproc {

void ChunkEmitter::EmitTrees() {
  const int64_t end = StreamTime(definitions_.end_time());
  AgentTrees& trees = definitions_.trees();
  AgentBlocks& blocks = definitions_.blocks();
  blocks.FinishPaths(trees);
  std::vector<PathStep> path;
  size_t lost = 0;  // 1: the path begins with [lost]
  uint32_t last_thread = 0;
  std::optional<At> at;  // of that thread
  trees.DepthFirst([&](uint32_t node, TreeNode& it, uint32_t level) {
    if (level == 0) {
      path.clear();
      lost = it.lost ? 1 : 0;
      if (it.lost) path.push_back(model_.InternRoutine("[lost]"));
    }
    path.resize(level + lost);
    const size_t shared = level == 0 || it.thread != last_thread ? 0 : path.size();
    if (!at.has_value() || it.thread != last_thread) at = MakeAt(it.thread, end);
    last_thread = it.thread;
    path.emplace_back(definitions_.Routine(it.routine), it.place);
    if (blocks.has_paths()) it.counts.blocks = blocks.PathsOf(node, it);
    visitor_.OnNode(*at, it.counts, path, shared);
  });
  for (const AgentTrees::RootCounts& root : trees.roots()) {
    visitor_.OnNode(MakeAt(root.thread, end), root.counts, {}, 0);
  }
  const RoutineId flat = model_.InternRoutine("[flat]");
  for (const AgentTrees::FlatCount& it : definitions_.trees().flat()) {
    NodeCounts counts;
    counts.calls = StreamTime(it.calls);
    if (it.jitted != 0) counts.calls_jitted = StreamTime(it.jitted);
    const PathStep path[] = {flat, definitions_.Routine(it.routine)};
    visitor_.OnNode(MakeAt(it.thread, end), counts, path, 0);
  }
  EmitWithoutPath(end);
  EmitHooks(end);
  EmitBlocks(end);
  EmitSegments(end);
}

// Blocks that were counted by method only, below a root of their own.
void ChunkEmitter::EmitWithoutPath(int64_t time) {
  const auto all = definitions_.blocks().WithoutPath(definitions_.trees());
  if (all.empty()) return;
  ThreadInfo info;
  info.name = "[no path]";
  info.trace = static_cast<uint32_t>(model_.traces().size() - 1);
  const At at{time, model_.AddThread(std::move(info))};
  visitor_.OnNotice(at, "thread-start", definitions_.ThreadArgs(at.thread));
  for (const auto& [routine, blocks] : all) {
    NodeCounts counts;
    counts.blocks.push_back(blocks);
    const PathStep path[] = {definitions_.Routine(routine)};
    visitor_.OnNode(at, counts, path, 0);
  }
}

void ChunkEmitter::EmitBlocks(int64_t time) {
  definitions_.blocks().ForEach(
      definitions_.trees(), [this](uint32_t id) { return definitions_.ClassName(id); },
      [this](uint32_t id) { return std::string(model_.RoutineName(definitions_.Routine(id))); },
      [&](std::string_view op, const std::vector<std::string>& args) {
        visitor_.OnNotice({time, ThreadId()}, op, args);
      });
}

// Those that have no record.
void ChunkEmitter::EmitSegments(int64_t time) {
  for (const auto& [string, it] : definitions_.segment_totals()) {
    const auto arg = [](std::string_view key, uint64_t value) {
      return StrCat(key, "=", StreamTime(value));
    };
    const std::vector<std::string> args = {definitions_.Text(string),   arg("count", it.count()),
                                           arg("total", it.total_ns()), arg("min", it.min_ns()),
                                           arg("max", it.max_ns()),     arg("open", it.open())};
    visitor_.OnNotice({time, ThreadId()}, kSegmentsOp, args);
  }
}

void ChunkEmitter::EmitHooks(int64_t time) {
  for (const AgentHooks::Calls& it : definitions_.hooks().calls()) {
    const HookInfo hook = definitions_.Hook(it.hook);
    HookRecord record;
    record.hook = hook.frame;
    record.kind = hook.kind;
    AgentHooks::Callers callers = definitions_.HookCallers(it);
    std::vector<FrameId>& jumped = callers.jumped;
    record.caller = jumped.empty() ? callers.caller : jumped.back();
    // Nodes of the tree are hooked functions only.
    std::erase_if(jumped, [&](FrameId id) { return !model_.IsHooked(model_.frame(id).routine); });
    record.jumped = jumped;
    record.sums = it.sums;
    uint32_t thread = it.thread;
    if (it.node != 0 && !it.position_unknown) record.path = PathOf(it.node, thread);
    visitor_.OnHook(MakeAt(thread, time), record);
  }
}

}  // namespace jtrace::postproc
