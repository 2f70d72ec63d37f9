#include "agent/calls/classfile/method_rewriter.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "agent/calls/classfile/code_editor.h"
#include "agent/calls/classfile/monitor_sites.h"
#include "common/classfile/annotations.h"

namespace jtrace::classfile {
namespace {

// The jumps in the code that counts exceptions reach 32 kB.
constexpr uint32_t kMaxBlocksSize = 32'767;

// HotSpot makes instances finalizable if their finalize() is more than a `return`; Object's is not,
// so a probe there would queue every object of the program for finalization.
bool IsEmptyFinalizer(const MethodInfo& method, Bytes code) {
  return method.name == "finalize" && method.descriptor == "()V" && code.size() == 1;
}

// The probe at its exit would put one thread into the tree of another. The JDK marks such methods
// for C2, which must not treat the current thread as a constant in them. What runs below a virtual
// thread's task is not marked, and runs on after VirtualThreadEnd: the thread's tree may be gone.
bool ChangesThread(const ClassFile& file, const MethodInfo& method) {
  constexpr std::string_view kVirtualThread = "java/lang/VirtualThread";
  if (file.this_name == "jdk/internal/vm/Continuation" ||
      file.this_name.starts_with("java/lang/VirtualThread$VThreadContinuation")) {
    return true;
  }
  return (file.this_name == kVirtualThread && method.name == "run") ||
         HasAnnotation(method.annotations, file.pool,
                       "Ljdk/internal/vm/annotation/ChangesCurrentThread;");
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
  PlanBlocks(method);
  FindPlaces();
  is_initializer_ = method.name == "<clinit>";
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
                    code_.max_stack + kSiteStack <= kMaxU2 &&
                    pool_.HasRoom(1 + static_cast<int>(sites_.size()));
  if (!fits) LeaveSitesOut();
}

// Where they cannot be counted, the method is probed without.
void MethodRewriter::PlanBlocks(const MethodInfo& method) {
  has_blocks_ = false;
  blocks_reason_ = Reason::kNone;
  if (spec_.block_owner.empty() || !wanted_.probes) return;
  const CodeSubAttribute* stack_map = StackMap();
  const StackMapContext frames = FrameContext(method);
  const BlockInput input = {.file = file_,
                            .method = method,
                            .code = code_,
                            .editor = editor_,
                            .frames = frames,
                            .stack_map = stack_map != nullptr ? stack_map->body : Bytes(),
                            .needs_frames = file_.major_version >= kFirstMajorWithStackMaps,
                            .count_entry = wanted_.count_entry,
                            .by_path = spec_.blocks_by_path,
                            .throw_size = static_cast<uint32_t>(RethrowOf(spec_).size())};
  has_blocks_ = blocks_.Plan(input, pool_);
  if (!has_blocks_) blocks_reason_ = Reason::kBlocksUnknownFlow;
  if (!has_blocks_ ||
      pool_.HasRoom(1 + static_cast<int>(blocks_.places().size() + sites_.size()))) {
    return;
  }
  LeaveBlocksOut();
}

void MethodRewriter::FindPlaces() {
  has_places_ = numbers_ != nullptr && !spec_.place.empty() && wanted_.probes;
  if (has_places_) call_places_.Find(file_, code_, editor_, sites_);
}

void MethodRewriter::LeaveBlocksOut() {
  has_blocks_ = false;
  blocks_reason_ = Reason::kBlocksTooLarge;
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
    if (role.kind == Kind::kMark || role.kind == Kind::kEntryMark) {
      ++(IsMonitorSite(sites_[role.site].kind) ? counts_.monitors : counts_.exceptions);
    }
    counts_.places += role.kind == Kind::kPlace ? 1 : 0;
    if (role.kind != Kind::kBeforeCall) continue;
    ++(sites_[role.site].kind == SiteKind::kNative ? counts_.natives : counts_.calls);
  }
  counts_.catch_alls += plan_.covered_from ? 1 : 0;
  counts_.monitors += MonitorOfCatchAll() ? 1 : 0;
  if (has_blocks_) {
    counts_.blocks += blocks_.plan().blocks;
    counts_.block_counters += blocks_.plan().counters - blocks_.plan().throws;
    counts_.throw_counters += blocks_.plan().throws;
  }
  for (size_t i = 0; i < left_out_.size(); ++i) counts_.calls_left_out[i] += left_out_[i];
}

Reason MethodRewriter::Prepare(const MethodInfo& method) {
  const Bytes attribute =
      file_.bytes.subspan(method.code_begin, method.code_end - method.code_begin);
  if (!code_.Parse(attribute, file_.pool)) return Reason::kMalformedCode;
  if (IsEmptyFinalizer(method, code_.code)) return Reason::kEmptyFinalizer;
  if (ChangesThread(file_, method)) return Reason::kChangesThread;
  for (const CodeSubAttribute& sub : code_.attributes) {
    if (sub.table == CodeTable::kUnknown) return Reason::kUnknownAttribute;
  }
  // Two locals and at most four stack slots are added.
  if (code_.max_locals > kMaxU2 - 2 || code_.max_stack > kMaxU2 - 4) return Reason::kFrameTooLarge;
  if (!constants_added_) {
    if (!constants_.Add(spec_, pool_)) return Reason::kConstantPoolFull;
    constants_added_ = true;
  }
  // The id may need constants, and nothing may fail any more once it is assigned.
  if (!pool_.HasRoom(2)) return Reason::kConstantPoolFull;
  return editor_.Scan(code_.code);
}

uint32_t MethodRewriter::NewSize(const ProbeCode& probes) const {
  return tails_begin() + tails_size() + (MonitorOfCatchAll() ? probes.mark.size() : 0) +
         (has_catch_all() ? probes.catch_all.size() : 0);
}

std::optional<uint32_t> MethodRewriter::MonitorOfCatchAll() const {
  const bool has_it = has_catch_all() && ReleasesAtCatchAll(sites_, code_);
  return has_it ? std::optional(static_cast<uint32_t>(sites_.size() - 1)) : std::nullopt;
}

// Without the places of its calls, then without the counters of its blocks, if they would make it
// too large.
Reason MethodRewriter::PlanWithinLimits(const MethodInfo& method, const ProbeCode& probes) {
  const bool with_places = has_places_;
  Reason reason = Reason::kNone;
  if (with_places) reason = PlanWith(method, probes, ProbePlanner::Weight::kSites);
  has_places_ = with_places && reason == Reason::kNone;
  if (!has_places_) reason = PlanProbes(method, probes);
  if (has_blocks_ && reason != Reason::kNone) {
    LeaveBlocksOut();
    reason = PlanProbes(method, probes);
  }
  if (reason == Reason::kNone && plan_.reason == Reason::kNone) plan_.reason = blocks_reason_;
  if (reason == Reason::kNone && plan_.reason == Reason::kNone && with_places && !has_places_) {
    plan_.reason = Reason::kPlacesLeftOut;
  }
  return reason;
}

// As many probes as keep a method that the JIT compiles within the JIT's size limit: all of them,
// those without sites, or only entry and exits.
Reason MethodRewriter::PlanProbes(const MethodInfo& method, const ProbeCode& probes) {
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
  return reason == Reason::kHugeMethod && !has_blocks_ ? PlanWith(method, probes, Weight::kLight)
                                                       : reason;
}

Reason MethodRewriter::PlanWith(const MethodInfo& method, const ProbeCode& probes,
                                ProbePlanner::Weight weight) {
  if (wanted_.probes) {
    planner_.Plan(file_, method, code_, editor_, probes, spec_.token, weight, sites_,
                  wanted_.unwind, has_blocks_ ? &blocks_ : nullptr,
                  has_places_ && weight != ProbePlanner::Weight::kLight
                      ? call_places_.changes()
                      : absl::Span<const PlacedCode>(),
                  plan_);
  } else {
    planner_.PlanSites(code_, probes, sites_, wanted_.unwind, plan_);
  }
  if (const Reason reason = editor_.Layout(plan_.insertions); reason != Reason::kNone) {
    return reason;
  }
  const uint32_t size = NewSize(probes);
  if (size > kMaxCodeSize) return Reason::kCodeTooLarge;
  if (has_blocks_ && size > kMaxBlocksSize) return Reason::kCodeTooLarge;
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
  // site: kSiteStack, on top of its operands or its result.
  // A counter: its id, on top of anything; those of exceptions too. A place: its number, on top of
  // a call's operands.
  const int stack = std::max({code_.max_stack + token_slots + (code_.exceptions.empty() ? 0 : 1),
                              has_blocks_ ? std::max(code_.max_stack + 1, 2 + token_slots) : 0,
                              token ? 1 + token_slots : 1, has_places_ ? code_.max_stack + 1 : 0,
                              sites ? code_.max_stack + kSiteStack : 0});
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
  unwind_positions_.clear();
  place_positions_.clear();
  site_positions_.clear();
  counter_positions_.clear();
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
        return unwind_positions_.push_back(begin + position + probes.id_in_unwind);
      case ProbePlan::Kind::kBeforeCall:
        return site_positions_.push_back(
            {begin + position + IdInBeforeCall(sites_[role.site].probe), role.site});
      case ProbePlan::Kind::kMark:
      case ProbePlan::Kind::kEntryMark:
        return site_positions_.push_back({begin + position, role.site});
      case ProbePlan::Kind::kHit:
        return counter_positions_.push_back({role.site, begin + position});
      case ProbePlan::Kind::kPlace:
        return place_positions_.push_back({role.site, begin + position});
      case ProbePlan::Kind::kAfterCall:
      case ProbePlan::Kind::kAllocation:
      case ProbePlan::Kind::kExit:
        return;
    }
  });
  if (has_blocks_) {
    const size_t tails = out.size();
    blocks_.WriteTails(probes, out, [&](uint32_t place, size_t position) {
      counter_positions_.push_back({place, tails + position});
    });
  }
  if (const auto site = MonitorOfCatchAll()) {
    site_positions_.push_back({out.size(), *site});
    out.Append(probes.mark.bytes());
  }
  if (has_catch_all()) out.Append(probes.catch_all.bytes());
}

MethodRewriter::SiteId MethodRewriter::IdOf(const Site& site) {
  constexpr uint32_t kOfMethod = 1u << 31;
  const uint32_t key =
      static_cast<uint32_t>(site.kind) << 16 | site.constant | (site.of_method ? kOfMethod : 0);
  const auto [entry, inserted] = site_ids_.try_emplace(key);
  if (inserted) {
    // A synchronized method locks its monitor at none of its lines.
    const bool has_no_place = site.of_method && numbers_ != nullptr && !spec_.place.empty();
    const uint32_t id = ids_->IdOf(finder_->RefOf(site)) | (has_no_place ? kIdWithoutPlace : 0);
    entry->second = {id, IdNeedsConstant(id) ? pool_.AddInteger(id) : uint16_t{0}};
  }
  return entry->second;
}

void MethodRewriter::ForEachMove(absl::FunctionRef<void(uint32_t, uint32_t)> f) const {
  std::optional<uint32_t> distance;
  for (uint32_t at = 0; at < code_.code.size();
       at += static_cast<uint32_t>(InstructionLength(code_.code, at))) {
    const uint32_t moved = editor_.Moved(at);
    if (distance != moved - at) f(moved, at);
    distance = moved - at;
  }
}

void MethodRewriter::SetCounters(uint32_t first, ByteWriter& out) {
  // Splits have no ids.
  std::vector<uint32_t> ids;
  for (const CounterPlace& place : places()) {
    ids.push_back(first);
    first += IsCounter(place) ? 1 : 0;
  }
  for (const auto& [place, position] : counter_positions_) {
    const uint16_t constant = IdNeedsConstant(ids[place]) ? pool_.AddInteger(ids[place]) : 0;
    PutId(out.data() + position, ids[place], constant);
  }
}

// Class initialisers have no place in their caller: any instruction may run them.
uint32_t MethodRewriter::PushedId(uint32_t id) const {
  return is_initializer_ && numbers_ != nullptr && !spec_.place.empty() ? id | kIdWithoutPlace : id;
}

void MethodRewriter::SetId(uint32_t id, ByteWriter& out) {
  const auto put = [&](const std::vector<size_t>& positions, uint32_t value) {
    if (positions.empty()) return;
    const uint16_t constant = IdNeedsConstant(value) ? pool_.AddInteger(value) : 0;
    for (const size_t position : positions) PutId(out.data() + position, value, constant);
  };
  put(id_positions_, PushedId(id));
  put(unwind_positions_, id);
  for (const auto& [change, position] : place_positions_) {
    PutId(out.data() + position, numbers_->NumberOf(id, call_places_.changes()[change].place), 0);
  }
  for (const SitePosition& at : site_positions_) {
    const SiteId site = IdOf(sites_[at.site]);
    PutId(out.data() + at.position, site.id, site.constant);
  }
}

const CodeSubAttribute* MethodRewriter::StackMap() const {
  for (const CodeSubAttribute& sub : code_.attributes) {
    if (sub.table == CodeTable::kStackMap) return &sub;
  }
  return nullptr;
}

StackMapContext MethodRewriter::FrameContext(const MethodInfo& method) const {
  return {
      .descriptor = method.descriptor,
      .is_static = (method.access & kAccStatic) != 0,
      .is_constructor = method.name == "<init>" && !file_.super_name.empty(),
      .this_class = file_.this_index,
      .max_locals = code_.max_locals,
      .token = plan_.token,
  };
}

Reason MethodRewriter::WriteExceptions(ByteWriter& out) const {
  const size_t count = code_.exceptions.size() + (has_catch_all() ? 1 : 0) +
                       (has_blocks_ ? blocks_.rows(has_catch_all()) : 0);
  if (count > kMaxU2) return Reason::kExceptionTableFull;
  out.U2(static_cast<uint32_t>(count));
  if (has_blocks_) blocks_.WriteFirstRows(editor_, tails_begin(), out);
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
  if (has_blocks_) blocks_.WriteLastRows(editor_, tails_begin(), has_catch_all(), out);
  if (has_catch_all()) {
    out.U2(editor_.PlaceOf(*plan_.covered_from));
    out.U2(tails_begin());
    out.U2(tails_begin() + tails_size());
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
      (stack_map != nullptr || has_catch_all() || tails_size() != 0)) {
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
  std::vector<AddedFrame> added;
  if (has_blocks_) blocks_.AddFrames(tails_begin(), constants_.throwable, added);
  if (has_catch_all()) {
    added.push_back(
        {tails_begin() + tails_size(), {}, {{VerificationType::kObject, constants_.throwable}}});
  }
  out.U2(old != nullptr ? old->name_index : constants_.stack_map_table);
  const size_t length_at = out.size();
  out.U4(0);
  const Reason reason = stack_map_.Rewrite(old != nullptr ? old->body : Bytes(),
                                           FrameContext(method), editor_, added, pool_, out);
  out.PatchU4(length_at, static_cast<uint32_t>(out.size() - length_at) - 4);
  return reason;
}

}  // namespace jtrace::classfile
