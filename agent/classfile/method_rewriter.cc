#include "agent/classfile/method_rewriter.h"

#include <algorithm>

#include "agent/classfile/code_tables.h"

namespace jtrace::classfile {
namespace {

constexpr uint16_t kFirstMajorWithStackMaps = 50;  // JVMS 4.7.4

// HotSpot makes instances finalizable if their finalize() is more than a `return`; Object's is not,
// so a probe there would queue every object of the program for finalization.
bool IsEmptyFinalizer(const MethodInfo& method, Bytes code) {
  return method.name == "finalize" && method.descriptor == "()V" && code.size() == 1;
}

int SlotsOf(TokenKind token) {
  return token == TokenKind::kLong ? 2 : token == TokenKind::kInt ? 1 : 0;
}

}  // namespace

Reason MethodRewriter::Rewrite(const MethodInfo& method, Wanted wanted, ByteWriter& out) {
  wanted_ = wanted;
  wanted_.probes &= spec_.methods;
  if (const Reason reason = Prepare(method); reason != Reason::kNone) return reason;
  FindSites(method);
  if (!wanted_.probes && !wanted_.unwind && sites_.empty()) return Reason::kOutOfScope;
  const ProbeCode probes(constants_, spec_.token, code_.max_locals);
  if (const Reason reason = PlanWithinLimits(method, probes); reason != Reason::kNone) {
    return reason;
  }
  const size_t begin = out.size();
  const Reason reason = WriteMethod(method, probes, out);
  if (reason != Reason::kNone) {
    out.Truncate(begin);
    return reason;
  }
  CountProbes();
  return plan_.reason;
}

// The sites, if the method's frame and the pool have room for them: one more token, one more slot
// of the stack, and an id each.
void MethodRewriter::FindSites(const MethodInfo& method) {
  sites_.clear();
  left_out_ = {};
  if (finder_ == nullptr || ids_ == nullptr) return;
  if (spec_.methods && !wanted_.probes) return;  // in scope only for unwinds
  finder_->Find(method, code_, editor_, sites_, left_out_);
  const bool fits = code_.max_locals + 2 * SlotsOf(spec_.token) <= kMaxU2 &&
                    code_.max_stack + 2 <= kMaxU2 &&
                    pool_.HasRoom(1 + static_cast<int>(sites_.size()));
  if (!fits) LeaveSitesOut();
}

void MethodRewriter::LeaveSitesOut() {
  for (const Site& site : sites_) {
    const bool is_call = site.kind == SiteKind::kCall || site.kind == SiteKind::kNative;
    left_out_[static_cast<size_t>(CallReason::kNoRoom)] += is_call ? 1 : 0;
  }
  sites_.clear();
}

void MethodRewriter::CountProbes() {
  using Kind = ProbePlan::Kind;
  for (const ProbePlan::Role& role : plan_.roles) {
    counts_.entries += role.kind == Kind::kEnter ? 1 : 0;
    counts_.exits += role.kind == Kind::kExit ? 1 : 0;
    counts_.resumes += role.kind == Kind::kResume ? 1 : 0;
    counts_.leaves += role.kind == Kind::kLeaf ? 1 : 0;
    counts_.exceptions += role.kind == Kind::kMark ? 1 : 0;
    if (role.kind != Kind::kBeforeCall) continue;
    ++(sites_[role.site].kind == SiteKind::kNative ? counts_.natives : counts_.calls);
  }
  counts_.catch_alls += plan_.covered_from ? 1 : 0;
  for (size_t i = 0; i < left_out_.size(); ++i) counts_.calls_left_out[i] += left_out_[i];
}

Reason MethodRewriter::Prepare(const MethodInfo& method) {
  const Bytes attribute =
      file_.bytes.subspan(method.code_begin, method.code_end - method.code_begin);
  if (!code_.Parse(attribute, file_.pool)) return Reason::kMalformedCode;
  if (IsEmptyFinalizer(method, code_.code)) return Reason::kEmptyFinalizer;
  for (const CodeSubAttribute& sub : code_.attributes) {
    if (sub.table == CodeTable::kUnknown) return Reason::kUnknownAttribute;
  }
  // Two locals and at most four stack slots are added.
  if (code_.max_locals > kMaxU2 - 2 || code_.max_stack > kMaxU2 - 4) return Reason::kFrameTooLarge;
  if (!constants_added_) {
    if (!constants_.Add(spec_, pool_)) return Reason::kConstantPoolFull;
    constants_added_ = true;
  }
  // The id may need a constant, and nothing may fail any more once it is assigned.
  if (!pool_.HasRoom(1)) return Reason::kConstantPoolFull;
  return editor_.Scan(code_.code);
}

uint32_t MethodRewriter::NewSize(const ProbeCode& probes) const {
  return editor_.new_size() + (plan_.covered_from ? probes.catch_all.size() : 0);
}

// As many probes as keep a method that the JIT compiles within the JIT's size limit: all of them,
// those without sites, or only entry and exits.
Reason MethodRewriter::PlanWithinLimits(const MethodInfo& method, const ProbeCode& probes) {
  using Weight = ProbePlanner::Weight;
  if (!sites_.empty()) {
    if (PlanWith(method, probes, Weight::kSites) == Reason::kNone) return Reason::kNone;
    LeaveSitesOut();
    if (const Reason reason = PlanWith(method, probes, Weight::kFull); reason == Reason::kNone) {
      if (plan_.reason == Reason::kNone) plan_.reason = Reason::kSitesLeftOut;
      return reason;
    }
  }
  const Reason reason = PlanWith(method, probes, Weight::kFull);
  return reason == Reason::kHugeMethod ? PlanWith(method, probes, Weight::kLight) : reason;
}

Reason MethodRewriter::PlanWith(const MethodInfo& method, const ProbeCode& probes,
                                ProbePlanner::Weight weight) {
  if (wanted_.probes) {
    planner_.Plan(file_, method, code_, editor_, probes, spec_.token, weight, sites_,
                  wanted_.unwind, plan_);
  } else {
    planner_.PlanSites(code_, probes, sites_, wanted_.unwind, plan_);
  }
  if (const Reason reason = editor_.Layout(plan_.insertions); reason != Reason::kNone) {
    return reason;
  }
  const uint32_t size = NewSize(probes);
  if (size > kMaxCodeSize) return Reason::kCodeTooLarge;
  const bool may_grow = code_.code.size() > kHugeMethodLimit;
  return may_grow || size <= kHugeMethodLimit ? Reason::kNone : Reason::kHugeMethod;
}

Reason MethodRewriter::WriteMethod(const MethodInfo& method, const ProbeCode& probes,
                                   ByteWriter& out) {
  out.Append(file_.bytes.subspan(method.begin, method.code_begin - method.begin));
  const size_t begin = out.size();
  const bool token = plan_.token != TokenKind::kNone;
  const int token_slots = SlotsOf(plan_.token);
  const bool sites = !sites_.empty();
  // The tokens of calls are after the method's, also where the method has none.
  const int call_slots = SlotsOf(spec_.token);
  // enter: the id, then the token. exit: the token on top of the stack. resume: token and id on top
  // of an exception, or of anything if it is placed after a handler's first instructions. At a
  // site: the id or the call's token, on top of its operands or its result.
  const int stack = std::max({code_.max_stack + token_slots + (code_.exceptions.empty() ? 0 : 1),
                              token ? 1 + token_slots : 1,
                              sites ? code_.max_stack + std::max(call_slots, 1) : 0});
  out.U2(code_.name_index);
  out.U4(0);
  out.U2(static_cast<uint32_t>(stack));
  out.U2(static_cast<uint32_t>(code_.max_locals + (sites ? 2 * call_slots : token_slots)));
  out.U4(0);
  WriteCode(probes, out);
  out.PatchU4(begin + kCodeLengthOffset, static_cast<uint32_t>(out.size() - begin - kCodeOffset));
  if (const Reason reason = WriteExceptions(out); reason != Reason::kNone) return reason;
  if (const Reason reason = WriteTables(method, out); reason != Reason::kNone) return reason;
  out.PatchU4(begin + kAttributeLengthOffset,
              static_cast<uint32_t>(out.size() - begin - kAttributeBodyOffset));
  out.Append(file_.bytes.subspan(method.code_end, method.end - method.code_end));
  return Reason::kNone;
}

void MethodRewriter::WriteCode(const ProbeCode& probes, ByteWriter& out) {
  id_positions_.clear();
  site_positions_.clear();
  const size_t begin = out.size();
  editor_.Write(out, [&](size_t insertion, size_t position) {
    const auto id_at = [&](uint32_t offset) { id_positions_.push_back(begin + position + offset); };
    const ProbePlan::Role role = plan_.roles[insertion];
    switch (role.kind) {
      case ProbePlan::Kind::kEnter:
        return id_at(probes.id_in_enter);
      case ProbePlan::Kind::kResume:
        return id_at(probes.id_in_resume);
      case ProbePlan::Kind::kLeaf:
        return id_at(probes.id_in_leaf);
      case ProbePlan::Kind::kUnwind:
        return id_at(probes.id_in_unwind);
      case ProbePlan::Kind::kBeforeCall:
      case ProbePlan::Kind::kMark:
        return site_positions_.push_back({begin + position, role.site});
      case ProbePlan::Kind::kAfterCall:
      case ProbePlan::Kind::kAllocation:
      case ProbePlan::Kind::kExit:
        return;
    }
  });
  if (plan_.covered_from) out.Append(probes.catch_all.bytes());
}

Reason MethodRewriter::WriteExceptions(ByteWriter& out) const {
  const size_t count = code_.exceptions.size() + (plan_.covered_from ? 1 : 0);
  if (count > kMaxU2) return Reason::kExceptionTableFull;
  out.U2(static_cast<uint32_t>(count));
  for (const ExceptionRow& row : code_.exceptions) {
    const uint32_t end = editor_.PlaceOf(row.end);
    if (row.start >= row.end || end == CodeEditor::kNowhere || !editor_.IsInstruction(row.start) ||
        !editor_.IsInstruction(row.handler)) {
      return Reason::kMalformedTable;
    }
    out.U2(editor_.PlaceOf(row.start));
    out.U2(end);
    out.U2(editor_.PlaceOf(row.handler));
    out.U2(row.catch_type);
  }
  if (plan_.covered_from) {
    out.U2(editor_.PlaceOf(*plan_.covered_from));
    out.U2(editor_.new_size());
    out.U2(editor_.new_size());
    out.U2(0);
  }
  return Reason::kNone;
}

Reason MethodRewriter::WriteTables(const MethodInfo& method, ByteWriter& out) {
  const size_t count_at = out.size();
  out.U2(0);
  uint32_t count = 0;
  const CodeSubAttribute* stack_map = nullptr;
  for (const CodeSubAttribute& sub : code_.attributes) {
    if (sub.table == CodeTable::kStackMap) {
      if (stack_map != nullptr) return Reason::kMalformedStackMap;
      stack_map = &sub;
      continue;
    }
    if (sub.table == CodeTable::kCldcStackMap) continue;
    out.U2(sub.name_index);
    out.U4(static_cast<uint32_t>(sub.body.size()));
    if (!RelocateTable(sub.table, sub.body, editor_, out)) return Reason::kMalformedTable;
    ++count;
  }
  // Older JVMs' verifier infers the types, and this JVM's ignores the attribute for older files.
  if (file_.major_version >= kFirstMajorWithStackMaps &&
      (stack_map != nullptr || plan_.covered_from)) {
    if (const Reason reason = WriteStackMap(method, stack_map, out); reason != Reason::kNone) {
      return reason;
    }
    ++count;
  }
  if (count > kMaxU2) return Reason::kMalformedTable;
  out.PatchU2(count_at, count);
  return Reason::kNone;
}

Reason MethodRewriter::WriteStackMap(const MethodInfo& method, const CodeSubAttribute* old,
                                     ByteWriter& out) {
  const StackMapContext context = {
      .descriptor = method.descriptor,
      .is_static = (method.access & kAccStatic) != 0,
      .is_constructor = method.name == "<init>" && !file_.super_name.empty(),
      .this_class = file_.this_index,
      .max_locals = code_.max_locals,
      .token = plan_.token,
  };
  const HandlerFrame handler = {editor_.new_size(), constants_.throwable};
  out.U2(old != nullptr ? old->name_index : constants_.stack_map_table);
  const size_t length_at = out.size();
  out.U4(0);
  const Reason reason = stack_map_.Rewrite(old != nullptr ? old->body : Bytes(), context, editor_,
                                           plan_.covered_from ? &handler : nullptr, pool_, out);
  out.PatchU4(length_at, static_cast<uint32_t>(out.size() - length_at) - 4);
  return reason;
}

MethodRewriter::SiteId MethodRewriter::IdOf(const Site& site) {
  const uint32_t key = static_cast<uint32_t>(site.kind) << 16 | site.constant;
  const auto [entry, inserted] = site_ids_.try_emplace(key);
  if (inserted) {
    const uint32_t id = ids_->IdOf(finder_->RefOf(site));
    entry->second = {id, IdNeedsConstant(id) ? pool_.AddInteger(id) : uint16_t{0}};
  }
  return entry->second;
}

void MethodRewriter::SetId(uint32_t id, ByteWriter& out) {
  const uint16_t constant = IdNeedsConstant(id) ? pool_.AddInteger(id) : 0;
  for (const size_t position : id_positions_) PutId(out.data() + position, id, constant);
  for (const SitePosition& at : site_positions_) {
    const SiteId site = IdOf(sites_[at.site]);
    PutId(out.data() + at.position, site.id, site.constant);
  }
}

}  // namespace jtrace::classfile
