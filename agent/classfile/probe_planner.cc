#include "agent/classfile/probe_planner.h"

#include <algorithm>

#include "agent/classfile/leaf.h"

namespace jtrace::classfile {
namespace {

bool EndsStraightLine(uint8_t opcode) {
  return KindOf(opcode) == OperandKind::kBranch16 || KindOf(opcode) == OperandKind::kBranch32 ||
         KindOf(opcode) == OperandKind::kSwitch || opcode == kOpRet || opcode == kOpAthrow ||
         IsReturn(opcode);
}

// The first bci at or behind `handler` where a resume probe is not covered by that same handler,
// if the way there is straight and calls nothing; else `handler`.
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

// Linear search for the invokespecial that initialises `this`: the first of this class's or its
// superclass's constructors that no `new` before it asks for.
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

}  // namespace

std::optional<uint32_t> EndOfSuperCall(const ClassFile& file, const CodeAttribute& code,
                                       const CodeEditor& editor) {
  if (file.super_name.empty()) return 0;
  const auto call = FindSuperCall(file, code.code);
  if (!call) return std::nullopt;
  const uint32_t end = *call + 3;
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
                        Weight weight, ProbePlan& plan) {
  plan.insertions.clear();
  plan.covered_from.reset();
  plan.reason = Reason::kNone;
  if (probes.leaf.size() != 0 && CallsNothing(file, code)) {
    plan.token = TokenKind::kNone;
    plan.insertions.push_back({0, true, probes.leaf.bytes()});
    plan.kinds.assign(1, ProbePlan::Kind::kLeaf);
    return;
  }
  plan.token = token;
  plan.insertions.push_back({0, true, probes.enter.bytes()});
  if (token != TokenKind::kNone) {
    if (weight == Weight::kFull) {
      plan.covered_from = method.name == "<init>" ? EndOfSuperCall(file, code, editor) : 0;
      if (!plan.covered_from) plan.reason = Reason::kConstructorUncovered;
      AddResumes(code, editor, probes, plan);
    } else {
      plan.reason = Reason::kHugeMethodLight;
    }
    for (const CodeEditor::Site& site : editor.sites()) {
      if (IsReturn(site.opcode)) plan.insertions.push_back({site.bci, false, probes.exit.bytes()});
    }
    // Stable: a resume stays in front of an exit at the same place.
    std::stable_sort(plan.insertions.begin(), plan.insertions.end(),
                     [](const Insertion& a, const Insertion& b) { return a.bci < b.bci; });
  }
  plan.kinds.clear();
  for (const Insertion& insertion : plan.insertions) {
    const uint8_t* bytes = insertion.bytes.data();
    plan.kinds.push_back(bytes == probes.enter.bytes().data()    ? ProbePlan::Kind::kEnter
                         : bytes == probes.resume.bytes().data() ? ProbePlan::Kind::kResume
                                                                 : ProbePlan::Kind::kExit);
  }
}

void ProbePlanner::AddResumes(const CodeAttribute& code, const CodeEditor& editor,
                              const ProbeCode& probes, ProbePlan& plan) {
  handlers_.clear();
  for (const ExceptionRow& row : code.exceptions) {
    if (editor.IsInstruction(row.handler)) handlers_.push_back(ResumeBci(row.handler, code));
  }
  std::sort(handlers_.begin(), handlers_.end());
  handlers_.erase(std::unique(handlers_.begin(), handlers_.end()), handlers_.end());
  for (const uint32_t bci : handlers_) {
    plan.insertions.push_back({bci, false, probes.resume.bytes()});
  }
}

}  // namespace jtrace::classfile
