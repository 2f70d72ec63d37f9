#include "agent/calls/classfile/probe_planner.h"

#include <algorithm>

#include "agent/calls/classfile/bytecode_analysis.h"
#include "agent/calls/classfile/monitor_points.h"

namespace jtrace::classfile {

const CodeSubAttribute* PlannedMethod::stack_map() const {
  for (const CodeSubAttribute& sub : code.attributes) {
    if (sub.table == CodeTable::kStackMap) return &sub;
  }
  return nullptr;
}

std::optional<uint32_t> PlannedMethod::MonitorOfCatchAll() const {
  if (!has_catch_all() || !ReleasesAtCatchAll(points, code)) return std::nullopt;
  return static_cast<uint32_t>(points.size() - 1);
}

void ProbePlanner::Plan(const ClassFile& file, const ProbeBytecode& probes, TokenKind token,
                        Selection selection, bool unwind, PlannedMethod& method) {
  using Kind = ProbePlan::Kind;
  const CodeAttribute& code = method.code;
  ProbePlan& plan = method.plan;
  planned_.clear();
  plan.covered_from.reset();
  plan.reason = Reason::kNone;
  plan.token = token;
  const absl::Span<const ProbePoint> points = selection == Selection::kAll
                                                  ? absl::MakeConstSpan(method.points)
                                                  : absl::Span<const ProbePoint>();
  const bool may_be_leaf = points.empty() && !unwind && probes.leaf.size() != 0 &&
                           !(method.has_blocks && method.blocks.needs_activation());
  if (may_be_leaf && CallsNothing(file, code)) {
    plan.token = TokenKind::kNone;
    Add(0, probes.leaf, Kind::kLeaf);
    AddBlocks(probes, method);
    PutInto(plan);
    return;
  }
  // Order at one bci: probes that jumps skip, resumes, call sites, caught exceptions, then the
  // probes of the instruction there. The sort in PutInto is stable.
  Add(0, probes.enter, Kind::kEnter);
  if (unwind) Add(0, probes.unwind, Kind::kUnwind);
  AddAfterCalls(code, probes, points);
  if (token != TokenKind::kNone) {
    if (selection != Selection::kEntryAndExits) {
      plan.covered_from =
          method.info->name == "<init>" ? EndOfSuperCall(file, code, method.editor) : 0;
      if (!plan.covered_from) plan.reason = Reason::kConstructorUncovered;
      AddResumes(code, method.editor, probes);
    } else {
      plan.reason = Reason::kHugeMethodLight;
    }
  } else if (ReleasesAtCatchAll(points, code)) {
    plan.covered_from = 0;
  }
  if (selection != Selection::kEntryAndExits) AddCallSites(probes, method);
  AddCaught(code, probes, points);
  AddMonitors(code, probes, points);
  AddBlocks(probes, method);
  if (token != TokenKind::kNone) AddExits(probes, method.editor);
  if (selection != Selection::kEntryAndExits) AddAllocations(code, probes);
  AddBeforePoints(probes, points);
  PutInto(plan);
}

void ProbePlanner::PlanPoints(const ProbeBytecode& probes, bool unwind, PlannedMethod& method) {
  planned_.clear();
  if (unwind) Add(0, probes.unwind, ProbePlan::Kind::kUnwind);
  method.plan.covered_from.reset();
  method.plan.reason = Reason::kNone;
  method.plan.token = TokenKind::kNone;
  AddAfterCalls(method.code, probes, method.points);
  AddCaught(method.code, probes, method.points);
  AddBeforePoints(probes, method.points);
  PutInto(method.plan);
}

void ProbePlanner::Add(uint32_t bci, const Snippet& snippet, ProbePlan::Kind kind, size_t index) {
  const bool skipped = kind == ProbePlan::Kind::kEnter || kind == ProbePlan::Kind::kLeaf ||
                       kind == ProbePlan::Kind::kUnwind || kind == ProbePlan::Kind::kAfterCall ||
                       kind == ProbePlan::Kind::kCountPointAtEntry;
  planned_.push_back({{bci, skipped, snippet.bytes()}, {kind, static_cast<uint32_t>(index)}});
}

void ProbePlanner::PutInto(ProbePlan& plan) {
  std::stable_sort(planned_.begin(), planned_.end(), [](const Planned& a, const Planned& b) {
    if (a.insertion.bci != b.insertion.bci) return a.insertion.bci < b.insertion.bci;
    return a.insertion.skipped_by_jumps && !b.insertion.skipped_by_jumps;
  });
  plan.insertions.clear();
  plan.roles.clear();
  for (const Planned& planned : planned_) {
    plan.insertions.push_back(planned.insertion);
    plan.roles.push_back(planned.role);
  }
}

void ProbePlanner::AddResumes(const CodeAttribute& code, const BytecodeEditor& editor,
                              const ProbeBytecode& probes) {
  handlers_.clear();
  for (const ExceptionRow& row : code.exceptions) {
    if (editor.IsInstruction(row.handler)) handlers_.push_back(HandlerProbeBci(row.handler, code));
  }
  std::sort(handlers_.begin(), handlers_.end());
  handlers_.erase(std::unique(handlers_.begin(), handlers_.end()), handlers_.end());
  for (const uint32_t bci : handlers_) Add(bci, probes.resume, ProbePlan::Kind::kResume);
}

void ProbePlanner::AddCaught(const CodeAttribute& code, const ProbeBytecode& probes,
                             absl::Span<const ProbePoint> points) {
  for (size_t i = 0; i < points.size(); ++i) {
    if (points[i].kind != ProbePointKind::kCaught) continue;
    Add(HandlerProbeBci(points[i].bci, code), probes.count_point, ProbePlan::Kind::kCountPoint, i);
  }
}

void ProbePlanner::AddAfterCalls(const CodeAttribute& code, const ProbeBytecode& probes,
                                 absl::Span<const ProbePoint> points) {
  if (probes.after_call.size() == 0) return;
  for (const ProbePoint& point : points) {
    if (point.kind != ProbePointKind::kCall && point.kind != ProbePointKind::kNative) continue;
    const auto next = static_cast<uint32_t>(point.bci + InstructionLength(code.code, point.bci));
    Add(next, probes.after_call, ProbePlan::Kind::kAfterCall);
  }
}

void ProbePlanner::AddAllocations(const CodeAttribute& code, const ProbeBytecode& probes) {
  if (probes.allocation.size() == 0) return;
  for (uint32_t at = 0; at < code.code.size();
       at += static_cast<uint32_t>(InstructionLength(code.code, at))) {
    if (IsAllocation(code.code[at])) Add(at, probes.allocation, ProbePlan::Kind::kAllocation);
  }
}

void ProbePlanner::AddCallSites(const ProbeBytecode& probes, const PlannedMethod& method) {
  if (!method.has_call_sites) return;
  const absl::Span<const CallSiteRange> changes = method.call_sites.changes();
  for (size_t i = 0; i < changes.size(); ++i) {
    Add(changes[i].bci, probes.call_site, ProbePlan::Kind::kCallSite, i);
  }
}

void ProbePlanner::AddExits(const ProbeBytecode& probes, const BytecodeEditor& editor) {
  for (const BytecodeEditor::Branch& branch : editor.branches()) {
    if (IsReturn(branch.opcode)) Add(branch.bci, probes.exit, ProbePlan::Kind::kExit);
  }
}

void ProbePlanner::AddBlocks(const ProbeBytecode& probes, const PlannedMethod& method) {
  if (!method.has_blocks) return;
  method.blocks.ForEachInsertion([&](uint32_t bci, bool skipped, uint32_t index) {
    planned_.push_back({{bci, skipped, probes.hit.bytes()}, {ProbePlan::Kind::kCountBlock, index}});
  });
}

void ProbePlanner::AddMonitors(const CodeAttribute& code, const ProbeBytecode& probes,
                               absl::Span<const ProbePoint> points) {
  for (size_t i = 0; i < points.size(); ++i) {
    // The release in the catch-all is part of the catch-all's code.
    if (!IsMonitorPoint(points[i].kind) || points[i].bci >= code.code.size()) continue;
    const bool is_entry =
        points[i].is_method_monitor && points[i].kind == ProbePointKind::kMonitorEnter;
    Add(points[i].is_method_monitor ? points[i].bci : MonitorProbeBci(points[i], code),
        probes.count_point,
        is_entry ? ProbePlan::Kind::kCountPointAtEntry : ProbePlan::Kind::kCountPoint, i);
  }
}

void ProbePlanner::AddBeforePoints(const ProbeBytecode& probes,
                                   absl::Span<const ProbePoint> points) {
  for (size_t i = 0; i < points.size(); ++i) {
    if (points[i].kind == ProbePointKind::kCaught || IsMonitorPoint(points[i].kind)) continue;
    const bool thrown = points[i].kind == ProbePointKind::kThrown;
    const Snippet& call = probes.before_call[static_cast<size_t>(points[i].probe)];
    Add(points[i].bci, thrown ? probes.count_point : call,
        thrown ? ProbePlan::Kind::kCountPoint : ProbePlan::Kind::kBeforeCall, i);
  }
}

}  // namespace jtrace::classfile
