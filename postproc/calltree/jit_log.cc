#include "postproc/calltree/jit_log.h"

#include <algorithm>
#include <limits>

namespace jtrace::postproc {
namespace {

constexpr size_t kNoCaller = std::numeric_limits<size_t>::max();
// Deeper than any compiler inlines: traces of strangers may have more.
constexpr int64_t kMostDepth = 1000;
// More than any method has loops to enter its code at; the oldest is forgotten.
constexpr size_t kMostBodies = 1000;

}  // namespace

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

void JitLog::CountBytecodes(RoutineId routine, uint32_t level, uint32_t bytecodes) {
  if (level == 0 || bytecodes == 0) return;
  Copies& copies = compiled_bytecodes_[routine][level == kC2Level ? 1 : 0];
  ++copies.copies;
  copies.bytecodes += bytecodes;
}

void JitLog::Load(const CodeRecord& code) {
  Method& method = methods_[{code.routine, code.method}];
  // A recording that begins late gets records of all code, including code that it knows already.
  if (!method.addresses.insert(code.address).second) return;

  const uint32_t level = std::min(code.level, kC2Level);
  CompiledRoutine& routine = compiled_[code.routine];
  ++routine.loads;
  ++pieces_;
  if (level == kC2Level && routine.first_c2 == 0) routine.first_c2 = pieces_;
  ++routine.by_level[level];
  CountBytecodes(code.routine, level, code.bytecodes);
  if (code.osr_entry != 0) ++routine.osr;
  routine.size = static_cast<int64_t>(code.size);
  routine.level = level;
  routine.is_native_wrapper = code.native_wrapper;
  if (code.bytecodes != 0) routine.bytecodes = code.bytecodes;
  if (code.modifiers != 0) routine.modifiers = code.modifiers;

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
  if (method.bodies.size() == kMostBodies) method.bodies.erase(method.bodies.begin());
  method.bodies.push_back({code.address,
                           code.osr_entry,
                           level,
                           static_cast<int64_t>(code.size),
                           pieces_,
                           {{code.routine, 0, code.bytecodes}}});
}

void JitLog::Inline(const CodeRecord& code) {
  std::vector<Body>& bodies = methods_[{code.routine, code.method}].bodies;
  const auto body = std::find_if(bodies.begin(), bodies.end(),
                                 [&](const Body& it) { return it.address == code.address; });
  if (body == bodies.end()) return;
  std::vector<Inlined>& tree = body->inlined;
  const bool is_first = tree.size() == 1;
  tree.resize(1);
  // By the caller, the position of the call, and the callee.
  absl::flat_hash_map<std::tuple<size_t, int32_t, RoutineId>, size_t> children;
  absl::flat_hash_map<RoutineId, uint32_t> bytecodes;
  for (const CodeRecord::Row& row : code.rows) {
    size_t at = 0;
    int32_t position = -1;
    for (auto frame = row.frames.rbegin(); frame != row.frames.rend(); ++frame) {
      if (frame->bytecodes != 0) bytecodes.emplace(frame->routine, frame->bytecodes);
      const int32_t call = std::exchange(position, frame->bci);
      if (frame == row.frames.rbegin() && frame->routine == code.routine) continue;
      const auto [child, is_new] = children.try_emplace({at, call, frame->routine}, tree.size());
      if (is_new) tree.push_back({frame->routine, at});
      at = child->second;
    }
  }
  for (size_t i = 1; i < tree.size(); ++i) {
    const auto known = bytecodes.find(tree[i].routine);
    tree[i].bytecodes =
        known != bytecodes.end() ? known->second : Compiled(tree[i].routine).bytecodes;
    if (is_first) CountBytecodes(tree[i].routine, body->level, tree[i].bytecodes);
  }
}

CompiledRoutine JitLog::Compiled(RoutineId routine) const {
  const auto found = compiled_.find(routine);
  return found == compiled_.end() ? CompiledRoutine() : found->second;
}

JitLog::Arcs::Arcs(const JitLog& log, absl::FunctionRef<bool(RoutineId)> is_counted) : log_(log) {
  for (const auto& [key, method] : log.methods_) {
    for (const Body& body : method.bodies) AddBody(body, is_counted);
  }
}

void JitLog::Arcs::AddBody(const Body& body, absl::FunctionRef<bool(RoutineId)> is_counted) {
  absl::flat_hash_set<RoutineId> members;
  absl::flat_hash_set<std::pair<RoutineId, RoutineId>> arcs;
  std::vector<int64_t> bytecodes(body.inlined.size());
  // By index: the nearest counted caller. Parents are first.
  std::vector<size_t> counted_callers(body.inlined.size());
  for (size_t i = body.inlined.size(); i-- > 0;) {
    bytecodes[i] += body.inlined[i].bytecodes;
    if (i != 0) bytecodes[body.inlined[i].parent] += bytecodes[i];
  }
  for (size_t i = 0; i < body.inlined.size(); ++i) {
    const size_t parent = body.inlined[i].parent;
    counted_callers[i] = i == 0                                     ? kNoCaller
                         : is_counted(body.inlined[parent].routine) ? parent
                                                                    : counted_callers[parent];
    const RoutineId callee = body.inlined[i].routine;
    if (!is_counted(callee)) continue;
    members.insert(callee);
    places_[callee].push_back({&body, i, bytecodes[i]});
    const size_t caller = counted_callers[i];
    if (caller == kNoCaller) continue;
    arcs.emplace(body.inlined[caller].routine, callee);
    inlined_at_.emplace(&body, caller, callee);
  }
  for (const RoutineId member : members) ++bodies_[member];
  for (const auto& arc : arcs) ++inlined_[arc];
}

void JitLog::Arcs::ForEachNotInlined(RoutineId caller, RoutineId callee,
                                     absl::FunctionRef<void(const NotInlined&)> visit) const {
  const auto places = places_.find(caller);
  if (places == places_.end()) return;
  const int64_t first_c2 = log_.Compiled(callee).first_c2;
  for (const Place& place : places->second) {
    if (inlined_at_.contains({place.body, place.index, callee})) continue;
    const std::vector<Inlined>& tree = place.body->inlined;
    const Body& body = *place.body;
    NotInlined it{body.level, 0, 0, place.bytecodes, body.size, false};
    it.callee_was_compiled = first_c2 != 0 && first_c2 < body.number;
    for (size_t at = place.index;; at = tree[at].parent) {
      if (tree[at].routine == callee) ++it.callee_above;
      if (at == 0 || it.depth == kMostDepth) break;
      ++it.depth;
    }
    visit(it);
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
