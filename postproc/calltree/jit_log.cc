#include "postproc/calltree/jit_log.h"

#include <utility>

namespace jtrace::postproc {

void JitLog::OnCode(At, const CodeRecord& code) {
  switch (code.op) {
    case CodeRecord::Op::kLoad: {
      CompiledRoutine& routine = compiled_[code.routine];
      ++routine.loads;
      routine.size = static_cast<int64_t>(code.size);
      Body body;
      body.address = code.address;
      body.members.insert(code.routine);
      bodies_[code.routine] = std::move(body);
      break;
    }
    case CodeRecord::Op::kUnload:
      ++compiled_[code.routine].unloads;
      break;
    case CodeRecord::Op::kInlining: {
      const auto body = bodies_.find(code.routine);
      if (body == bodies_.end() || body->second.address != code.address) return;
      for (const CodeRecord::Row& row : code.rows) {
        for (size_t i = 0; i + 1 < row.frames.size(); ++i) {
          body->second.members.insert(row.frames[i].routine);
          body->second.inlined.emplace(row.frames[i + 1].routine, row.frames[i].routine);
        }
      }
      break;
    }
  }
}

CompiledRoutine JitLog::Compiled(RoutineId routine) const {
  const auto found = compiled_.find(routine);
  return found == compiled_.end() ? CompiledRoutine() : found->second;
}

JitLog::Arcs::Arcs(const JitLog& log) {
  for (const auto& [routine, body] : log.bodies_) {
    for (const RoutineId member : body.members) ++bodies_[member];
    for (const Arc& arc : body.inlined) ++inlined_[arc];
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
