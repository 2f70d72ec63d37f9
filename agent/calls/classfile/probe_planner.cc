#include "agent/calls/classfile/probe_planner.h"

#include <algorithm>

#include "agent/calls/classfile/block_probes.h"
#include "agent/calls/classfile/leaf.h"
#include "agent/calls/classfile/monitor_sites.h"

namespace jtrace::classfile {
namespace {

// JVMS 6.5.invokespecial.
constexpr uint32_t kInvokespecialSize = 3;

bool EndsStraightLine(uint8_t opcode) {
  return KindOf(opcode) == OperandKind::kBranch16 || KindOf(opcode) == OperandKind::kBranch32 ||
         KindOf(opcode) == OperandKind::kSwitch || opcode == kOpRet || opcode == kOpAthrow ||
         IsReturn(opcode);
}

}  // namespace

uint32_t ResumeBci(uint32_t handler, const CodeAttribute& attribute) {
  uint32_t end = handler;
  for (const ExceptionRow& row : attribute.exceptions) {
    if (row.handler == handler && row.start <= handler) end = std::max<uint32_t>(end, row.end);
  }
  uint32_t at = handler;
  while (at < end) {
    const uint8_t opcode = attribute.code[at];
    if (EndsStraightLine(opcode) || IsInvoke(opcode)) return handler;
    at += static_cast<uint32_t>(InstructionLength(attribute.code, at));
    if (at >= attribute.code.size()) return handler;
  }
  return at;
}

// Linear search: the first call of this class's or its superclass's constructors that no preceding
// `new` needs.
std::optional<uint32_t> FindSuperCall(const ClassFile& file, Bytes code) {
  int uninitialized = 0;
  for (uint32_t at = 0; at < code.size();
       at += static_cast<uint32_t>(InstructionLength(code, at))) {
    if (code[at] == kOpNew) ++uninitialized;
    if (code[at] != kOpInvokespecial) continue;
    const auto callee = file.pool.Method(LoadU2(code.data() + at + 1));
    if (!callee || callee->name != "<init>") continue;
    if (uninitialized > 0) {
      --uninitialized;
    } else if (callee->class_name == file.this_name || callee->class_name == file.super_name) {
      return at;
    }
  }
  return std::nullopt;
}

std::optional<uint32_t> EndOfSuperCall(const ClassFile& file, const CodeAttribute& code,
                                       const CodeEditor& editor) {
  if (file.super_name.empty()) return 0;
  const auto call = FindSuperCall(file, code.code);
  if (!call) return std::nullopt;
  const uint32_t end = *call + kInvokespecialSize;
  if (end >= code.code.size()) return std::nullopt;
  bool one_way_in = true;
  for (const CodeEditor::Site& site : editor.sites()) {
    if (site.bci >= end) break;
    editor.ForEachTarget(site, [&](int64_t target) { one_way_in &= target < end; });
    one_way_in &= site.opcode != kOpJsr && site.opcode != kOpJsrW;
  }
  for (const ExceptionRow& row : code.exceptions) {
    one_way_in &= row.start >= end || row.handler < end;
  }
  return one_way_in ? std::optional<uint32_t>(end) : std::nullopt;
}

void ProbePlanner::Plan(const ClassFile& file, const MethodInfo& method, const CodeAttribute& code,
                        const CodeEditor& editor, const ProbeCode& probes, TokenKind token,
                        Weight weight, absl::Span<const Site> sites, bool unwind,
                        const BlockProbes* blocks, absl::Span<const PlacedCode> places,
                        ProbePlan& plan) {
  using Kind = ProbePlan::Kind;
  planned_.clear();
  plan.covered_from.reset();
  plan.reason = Reason::kNone;
  if (weight != Weight::kSites) sites = {};
  plan.token = token;
  const bool may_be_leaf = sites.empty() && !unwind && probes.leaf.size() != 0 &&
                           (blocks == nullptr || !blocks->needs_activation());
  if (may_be_leaf && CallsNothing(file, code)) {
    plan.token = TokenKind::kNone;
    Add(0, probes.leaf, Kind::kLeaf);
    AddBlocks(probes, blocks);
    PutInto(plan);
    return;
  }
  // Order at one place: probes that jumps skip, resumes, caught exceptions, then the probes of the
  // instruction there. The sort below is stable.
  Add(0, probes.enter, Kind::kEnter);
  if (unwind) Add(0, probes.unwind, Kind::kUnwind);
  AddAfterCalls(code, probes, sites);
  if (token != TokenKind::kNone) {
    if (weight != Weight::kLight) {
      plan.covered_from = method.name == "<init>" ? EndOfSuperCall(file, code, editor) : 0;
      if (!plan.covered_from) plan.reason = Reason::kConstructorUncovered;
      AddResumes(code, editor, probes);
    } else {
      plan.reason = Reason::kHugeMethodLight;
    }
  } else if (ReleasesAtCatchAll(sites, code)) {
    plan.covered_from = 0;
  }
  for (size_t i = 0; i < places.size(); ++i) Add(places[i].bci, probes.place, Kind::kPlace, i);
  AddCaught(code, probes, sites);
  AddMonitors(code, probes, sites);
  AddBlocks(probes, blocks);
  if (token != TokenKind::kNone) {
    for (const CodeEditor::Site& site : editor.sites()) {
      if (IsReturn(site.opcode)) Add(site.bci, probes.exit, Kind::kExit);
    }
  }
  if (weight != Weight::kLight) AddAllocations(code, probes);
  AddBeforeSites(probes, sites);
  PutInto(plan);
}

void ProbePlanner::PlanSites(const CodeAttribute& code, const ProbeCode& probes,
                             absl::Span<const Site> sites, bool unwind, ProbePlan& plan) {
  planned_.clear();
  if (unwind) Add(0, probes.unwind, ProbePlan::Kind::kUnwind);
  plan.covered_from.reset();
  plan.reason = Reason::kNone;
  plan.token = TokenKind::kNone;
  AddAfterCalls(code, probes, sites);
  AddCaught(code, probes, sites);
  AddBeforeSites(probes, sites);
  PutInto(plan);
}

void ProbePlanner::Add(uint32_t bci, const Snippet& snippet, ProbePlan::Kind kind, size_t site) {
  const bool skipped = kind == ProbePlan::Kind::kEnter || kind == ProbePlan::Kind::kLeaf ||
                       kind == ProbePlan::Kind::kUnwind || kind == ProbePlan::Kind::kAfterCall ||
                       kind == ProbePlan::Kind::kEntryMark;
  planned_.push_back({{bci, skipped, snippet.bytes()}, {kind, static_cast<uint32_t>(site)}});
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

void ProbePlanner::AddResumes(const CodeAttribute& code, const CodeEditor& editor,
                              const ProbeCode& probes) {
  handlers_.clear();
  for (const ExceptionRow& row : code.exceptions) {
    if (editor.IsInstruction(row.handler)) handlers_.push_back(ResumeBci(row.handler, code));
  }
  std::sort(handlers_.begin(), handlers_.end());
  handlers_.erase(std::unique(handlers_.begin(), handlers_.end()), handlers_.end());
  for (const uint32_t bci : handlers_) Add(bci, probes.resume, ProbePlan::Kind::kResume);
}

void ProbePlanner::AddCaught(const CodeAttribute& code, const ProbeCode& probes,
                             absl::Span<const Site> sites) {
  for (size_t i = 0; i < sites.size(); ++i) {
    if (sites[i].kind != SiteKind::kCaught) continue;
    Add(ResumeBci(sites[i].bci, code), probes.mark, ProbePlan::Kind::kMark, i);
  }
}

void ProbePlanner::AddAfterCalls(const CodeAttribute& code, const ProbeCode& probes,
                                 absl::Span<const Site> sites) {
  if (probes.after_call.size() == 0) return;
  for (const Site& site : sites) {
    if (site.kind != SiteKind::kCall && site.kind != SiteKind::kNative) continue;
    const auto next = static_cast<uint32_t>(site.bci + InstructionLength(code.code, site.bci));
    Add(next, probes.after_call, ProbePlan::Kind::kAfterCall);
  }
}

void ProbePlanner::AddAllocations(const CodeAttribute& code, const ProbeCode& probes) {
  if (probes.allocation.size() == 0) return;
  for (uint32_t at = 0; at < code.code.size();
       at += static_cast<uint32_t>(InstructionLength(code.code, at))) {
    if (IsAllocation(code.code[at])) Add(at, probes.allocation, ProbePlan::Kind::kAllocation);
  }
}

void ProbePlanner::AddBlocks(const ProbeCode& probes, const BlockProbes* blocks) {
  if (blocks == nullptr) return;
  blocks->ForEachInsertion([&](uint32_t bci, bool skipped, uint32_t place) {
    planned_.push_back({{bci, skipped, probes.hit.bytes()}, {ProbePlan::Kind::kHit, place}});
  });
}

void ProbePlanner::AddMonitors(const CodeAttribute& code, const ProbeCode& probes,
                               absl::Span<const Site> sites) {
  for (size_t i = 0; i < sites.size(); ++i) {
    // That of the catch-all is part of it.
    if (!IsMonitorSite(sites[i].kind) || sites[i].bci >= code.code.size()) continue;
    const bool is_entry = sites[i].of_method && sites[i].kind == SiteKind::kMonitorEnter;
    Add(sites[i].of_method ? sites[i].bci : MonitorProbeBci(sites[i], code), probes.mark,
        is_entry ? ProbePlan::Kind::kEntryMark : ProbePlan::Kind::kMark, i);
  }
}

void ProbePlanner::AddBeforeSites(const ProbeCode& probes, absl::Span<const Site> sites) {
  for (size_t i = 0; i < sites.size(); ++i) {
    if (sites[i].kind == SiteKind::kCaught || IsMonitorSite(sites[i].kind)) continue;
    const bool thrown = sites[i].kind == SiteKind::kThrown;
    const Snippet& call = probes.before_call[static_cast<size_t>(sites[i].probe)];
    Add(sites[i].bci, thrown ? probes.mark : call,
        thrown ? ProbePlan::Kind::kMark : ProbePlan::Kind::kBeforeCall, i);
  }
}

}  // namespace jtrace::classfile
