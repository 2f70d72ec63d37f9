#include "postproc/calltree/jit_log.h"

#include <algorithm>

namespace jtrace::postproc {

void JitLog::OnCode(At, const CodeRecord& code) {
  switch (code.op) {
    case CodeRecord::Op::kLoad:
      return Load(code);
    case CodeRecord::Op::kUnload:
      ++compiled_[code.routine].unloads;
      methods_[{code.routine, code.method}].addresses.erase(code.address);
      return;
    case CodeRecord::Op::kInlining:
      return Inline(code);
  }
}

void JitLog::Load(const CodeRecord& code) {
  Method& method = methods_[{code.routine, code.method}];
  // A recording that begins late gets records of all code, including code that it knows already.
  if (!method.addresses.insert(code.address).second) return;

  const uint32_t level = std::min(code.level, kC2Level);
  CompiledRoutine& routine = compiled_[code.routine];
  ++routine.loads;
  ++routine.by_level[level];
  if (code.osr_entry != 0) ++routine.osr;
  routine.size = static_cast<int64_t>(code.size);
  routine.level = level;
  routine.is_native_wrapper = code.native_wrapper;

  auto [entry, is_first] = method.entries.try_emplace(code.osr_entry);
  Entry& before = entry->second;
  if (!is_first) {
    if ((before.levels >> level & 1) != 0) ++routine.again;
    const bool same = level == before.last_level;
    if (level != 0 && (same || before.last_level == kC2Level)) ++routine.discarded;
  }
  before.last_level = level;
  before.levels |= 1u << level;

  // Better code replaces worse code at all entries: threads that still run the worse code soon
  // leave it.
  std::erase_if(method.bodies, [&](const Body& body) {
    return body.osr_entry == code.osr_entry || body.level < level || level == 0;
  });
  method.bodies.push_back({code.address, code.osr_entry, level, {{code.routine, 0}}});
}

void JitLog::Inline(const CodeRecord& code) {
  std::vector<Body>& bodies = methods_[{code.routine, code.method}].bodies;
  const auto body = std::find_if(bodies.begin(), bodies.end(),
                                 [&](const Body& it) { return it.address == code.address; });
  if (body == bodies.end()) return;
  std::vector<Inlined>& tree = body->inlined;
  tree.resize(1);
  absl::flat_hash_map<std::pair<size_t, RoutineId>, size_t> children;
  for (const CodeRecord::Row& row : code.rows) {
    size_t at = 0;
    for (auto frame = row.frames.rbegin(); frame != row.frames.rend(); ++frame) {
      if (frame == row.frames.rbegin() && frame->routine == code.routine) continue;
      const auto [child, is_new] = children.try_emplace({at, frame->routine}, tree.size());
      if (is_new) tree.push_back({frame->routine, at});
      at = child->second;
    }
  }
}

CompiledRoutine JitLog::Compiled(RoutineId routine) const {
  const auto found = compiled_.find(routine);
  return found == compiled_.end() ? CompiledRoutine() : found->second;
}

JitLog::Arcs::Arcs(const JitLog& log, absl::FunctionRef<bool(RoutineId)> is_counted) {
  absl::flat_hash_set<RoutineId> members;
  absl::flat_hash_set<std::pair<RoutineId, RoutineId>> arcs;
  const auto add_body = [&](const Body& body) {
    members.clear();
    arcs.clear();
    for (size_t i = 0; i < body.inlined.size(); ++i) {
      const RoutineId callee = body.inlined[i].routine;
      if (!is_counted(callee)) continue;
      members.insert(callee);
      for (size_t at = i; at != 0;) {
        at = body.inlined[at].parent;
        const RoutineId caller = body.inlined[at].routine;
        if (!is_counted(caller)) continue;
        arcs.emplace(caller, callee);
        break;
      }
    }
    for (const RoutineId member : members) ++bodies_[member];
    for (const auto& arc : arcs) ++inlined_[arc];
  };
  for (const auto& [key, method] : log.methods_) {
    for (const Body& body : method.bodies) add_body(body);
  }
}

InliningOfArc JitLog::Arcs::Find(RoutineId caller, RoutineId callee) const {
  InliningOfArc result;
  if (const auto found = bodies_.find(caller); found != bodies_.end()) {
    result.bodies = found->second;
  }
  if (const auto found = inlined_.find({caller, callee}); found != inlined_.end()) {
    result.inlined = found->second;
  }
  return result;
}

}  // namespace jtrace::postproc
