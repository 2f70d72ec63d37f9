#include "agent/calls/classfile/method_rewriter.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "agent/calls/classfile/bytecode_editor.h"
#include "agent/calls/classfile/monitor_points.h"
#include "common/classfile/annotations.h"

namespace jtrace::classfile {
namespace {

// The `goto`s in the tails of BlockProbes reach 32 kB.
constexpr uint32_t kMaxBlocksSize = 32'767;

// HotSpot makes instances finalizable if their finalize() is more than a `return`; Object's is not,
// so a probe there would queue every object of the program for finalization.
bool IsEmptyFinalizer(const MethodInfo& method, Bytes code) {
  return method.name == "finalize" && method.descriptor == "()V" && code.size() == 1;
}

// Whether the method may return on another thread than it was called on: its exit probe would use
// the wrong thread's tree. The JDK annotates such methods, because C2 must not treat the current
// thread as a constant in them. The methods that run a virtual thread's task have no annotation,
// but return after VirtualThreadEnd, when the thread's tree may be gone.
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

}  // namespace

Reason MethodRewriter::Rewrite(const MethodInfo& method, Wanted wanted, ByteWriter& out) {
  wanted_ = wanted;
  wanted_.probes &= spec_.methods;
  method_.info = &method;
  if (const Reason reason = Prepare(); reason != Reason::kNone) return reason;
  FindPoints();
  PlanBlocks();
  FindCallSites();
  if (!wanted_.probes && !wanted_.unwind && method_.points.empty()) return Reason::kOutOfScope;
  const ProbeBytecode probes(constants_, spec_.token, method_.code.max_locals);
  if (const Reason reason = PlanWithinLimits(probes); reason != Reason::kNone) return reason;
  const size_t begin = out.size();
  const Reason reason = writer_.Write(method_, probes, out, id_positions_);
  if (reason != Reason::kNone) {
    out.Truncate(begin);
    return reason;
  }
  CountProbes();
  return method_.plan.reason;
}

// Finds the points. Leaves them out if the method's frame has no room for a call's token and
// kPointStack, or the constant pool has none for their ids.
void MethodRewriter::FindPoints() {
  method_.points.clear();
  left_out_ = {};
  if (finder_ == nullptr) return;
  if (spec_.methods && !wanted_.probes) return;  // in scope only for unwinds
  finder_->Find(*method_.info, method_.code, method_.editor, method_.points, left_out_);
  const bool fits = method_.code.max_locals + 2 * SlotsOf(spec_.token) <= kMaxU2 &&
                    method_.code.max_stack + kPointStack <= kMaxU2 &&
                    pool_.HasRoom(1 + static_cast<int>(method_.points.size()));
  if (!fits) LeaveOutPoints();
}

// Plans the counters of blocks. A method whose blocks cannot be counted is probed without them.
void MethodRewriter::PlanBlocks() {
  method_.has_blocks = false;
  blocks_reason_ = Reason::kNone;
  if (spec_.block_owner.empty() || !wanted_.probes) return;
  const CodeSubAttribute* stack_map = method_.stack_map();
  const StackMapContext frames = writer_.FrameContext(method_);
  const BlockInput input = {.file = file_,
                            .method = *method_.info,
                            .code = method_.code,
                            .editor = method_.editor,
                            .frames = frames,
                            .stack_map = stack_map != nullptr ? stack_map->body : Bytes(),
                            .needs_frames = file_.major_version >= kFirstMajorWithStackMaps,
                            .count_entry = wanted_.count_entry,
                            .by_path = spec_.blocks_by_path,
                            .rethrow_size = static_cast<uint32_t>(RethrowOf(spec_).size())};
  method_.has_blocks = method_.blocks.Plan(input, pool_);
  if (!method_.has_blocks) blocks_reason_ = Reason::kBlocksUnknownFlow;
  if (!method_.has_blocks || pool_.HasRoom(1 + static_cast<int>(method_.blocks.positions().size() +
                                                                method_.points.size()))) {
    return;
  }
  LeaveBlocksOut();
}

void MethodRewriter::FindCallSites() {
  method_.has_call_sites = numbers_ != nullptr && !spec_.call_site.empty() && wanted_.probes;
  if (method_.has_call_sites)
    method_.call_sites.Find(file_, method_.code, method_.editor, method_.points);
}

void MethodRewriter::LeaveBlocksOut() {
  method_.has_blocks = false;
  blocks_reason_ = Reason::kBlocksTooLarge;
}

void MethodRewriter::LeaveOutPoints() {
  for (const ProbePoint& point : method_.points) {
    const bool is_call =
        point.kind == ProbePointKind::kCall || point.kind == ProbePointKind::kNative;
    left_out_[static_cast<size_t>(CallReason::kNoRoom)] += is_call ? 1 : 0;
  }
  method_.points.clear();
}

void MethodRewriter::CountProbes() {
  using Kind = ProbePlan::Kind;
  for (const ProbePlan::Role& role : method_.plan.roles) {
    counts_.entries += role.kind == Kind::kEnter ? 1 : 0;
    counts_.exits += role.kind == Kind::kExit ? 1 : 0;
    counts_.resumes += role.kind == Kind::kResume ? 1 : 0;
    counts_.leaves += role.kind == Kind::kLeaf ? 1 : 0;
    if (role.kind == Kind::kCountPoint || role.kind == Kind::kCountPointAtEntry) {
      const bool is_monitor = IsMonitorPoint(method_.points[role.index].kind);
      ++(is_monitor ? counts_.monitors : counts_.exceptions);
    }
    counts_.call_sites += role.kind == Kind::kCallSite ? 1 : 0;
    if (role.kind != Kind::kBeforeCall) continue;
    ++(method_.points[role.index].kind == ProbePointKind::kNative ? counts_.natives
                                                                  : counts_.calls);
  }
  counts_.catch_alls += method_.plan.covered_from ? 1 : 0;
  counts_.monitors += method_.MonitorOfCatchAll() ? 1 : 0;
  if (method_.has_blocks) {
    counts_.blocks += method_.blocks.plan().blocks;
    counts_.block_counters += method_.blocks.plan().counters - method_.blocks.plan().throws;
    counts_.throw_counters += method_.blocks.plan().throws;
  }
  for (size_t i = 0; i < left_out_.size(); ++i) counts_.calls_left_out[i] += left_out_[i];
}

Reason MethodRewriter::Prepare() {
  const MethodInfo& method = *method_.info;
  const Bytes attribute =
      file_.bytes.subspan(method.code_begin, method.code_end - method.code_begin);
  if (!method_.code.Parse(attribute, file_.pool)) return Reason::kMalformedCode;
  if (IsEmptyFinalizer(method, method_.code.code)) return Reason::kEmptyFinalizer;
  if (ChangesThread(file_, method)) return Reason::kChangesThread;
  for (const CodeSubAttribute& sub : method_.code.attributes) {
    if (sub.table == CodeTable::kUnknown) return Reason::kUnknownAttribute;
  }
  // Two locals and at most four stack slots are added.
  if (method_.code.max_locals > kMaxU2 - 2 || method_.code.max_stack > kMaxU2 - 4)
    return Reason::kFrameTooLarge;
  if (!constants_added_) {
    if (!constants_.Add(spec_, pool_)) return Reason::kConstantPoolFull;
    constants_added_ = true;
  }
  // The id may need constants, and nothing may fail any more once it is assigned.
  if (!pool_.HasRoom(2)) return Reason::kConstantPoolFull;
  return method_.editor.Scan(method_.code.code);
}

// Plans the probes. If the method would become too large, leaves out its call sites, then the
// counters of its blocks, then what PlanProbes leaves out.
Reason MethodRewriter::PlanWithinLimits(const ProbeBytecode& probes) {
  const bool with_call_sites = method_.has_call_sites;
  Reason reason = Reason::kNone;
  if (with_call_sites) reason = PlanWith(probes, ProbePlanner::Selection::kAll);
  method_.has_call_sites = with_call_sites && reason == Reason::kNone;
  if (!method_.has_call_sites && method_.has_blocks) {
    reason = PlanWith(probes, ProbePlanner::Selection::kAll);
    if (reason != Reason::kNone) LeaveBlocksOut();
  }
  if (!method_.has_call_sites && !method_.has_blocks) reason = PlanProbes(probes);
  if (reason == Reason::kNone && method_.plan.reason == Reason::kNone)
    method_.plan.reason = blocks_reason_;
  if (reason == Reason::kNone && method_.plan.reason == Reason::kNone && with_call_sites &&
      !method_.has_call_sites) {
    method_.plan.reason = Reason::kCallSitesLeftOut;
  }
  return reason;
}

// Plans as many probes as keep the method within the size that the JIT compiles: all of them, all
// but those of points inside the method, or only entry and exits.
Reason MethodRewriter::PlanProbes(const ProbeBytecode& probes) {
  using Selection = ProbePlanner::Selection;
  if (!method_.points.empty()) {
    if (PlanWith(probes, Selection::kAll) == Reason::kNone) return Reason::kNone;
    LeaveOutPoints();
    if (const Reason reason = PlanWith(probes, Selection::kWithoutPoints);
        reason == Reason::kNone) {
      if (method_.plan.reason == Reason::kNone) method_.plan.reason = Reason::kPointsLeftOut;
      return reason;
    }
  }
  const Reason reason = PlanWith(probes, Selection::kWithoutPoints);
  return reason == Reason::kHugeMethod ? PlanWith(probes, Selection::kEntryAndExits) : reason;
}

Reason MethodRewriter::PlanWith(const ProbeBytecode& probes, ProbePlanner::Selection selection) {
  if (wanted_.probes) {
    planner_.Plan(file_, probes, spec_.token, selection, wanted_.unwind, method_);
  } else {
    planner_.PlanPoints(probes, wanted_.unwind, method_);
  }
  if (const Reason reason = method_.editor.Layout(method_.plan.insertions);
      reason != Reason::kNone) {
    return reason;
  }
  const uint32_t size = method_.tails_begin() + method_.tails_size() +
                        (method_.MonitorOfCatchAll() ? probes.count_point.size() : 0) +
                        (method_.has_catch_all() ? probes.catch_all.size() : 0);
  if (size > kMaxCodeSize) return Reason::kCodeTooLarge;
  if (method_.has_blocks && size > kMaxBlocksSize) return Reason::kCodeTooLarge;
  const bool may_grow = method_.code.code.size() > kHugeMethodLimit;
  return may_grow || size <= kHugeMethodLimit ? Reason::kNone : Reason::kHugeMethod;
}

MethodRewriter::TargetId MethodRewriter::IdOf(const ProbePoint& point) {
  constexpr uint32_t kOfMethod = 1u << 31;
  const uint32_t key = static_cast<uint32_t>(point.kind) << 16 | point.constant |
                       (point.is_method_monitor ? kOfMethod : 0);
  const auto [entry, inserted] = target_ids_.try_emplace(key);
  if (inserted) {
    // A synchronized method locks its monitor at none of its lines.
    const bool has_no_site =
        point.is_method_monitor && numbers_ != nullptr && !spec_.call_site.empty();
    const uint32_t id = finder_->IdOf(point) | (has_no_site ? kWithoutCallSite : 0);
    entry->second = {id, IdNeedsConstant(id) ? pool_.AddInteger(id) : uint16_t{0}};
  }
  return entry->second;
}

void MethodRewriter::ForEachMove(absl::FunctionRef<void(uint32_t, uint32_t)> f) const {
  std::optional<uint32_t> distance;
  for (uint32_t at = 0; at < method_.code.code.size();
       at += static_cast<uint32_t>(InstructionLength(method_.code.code, at))) {
    const uint32_t moved = method_.editor.Moved(at);
    if (distance != moved - at) f(moved, at);
    distance = moved - at;
  }
}

void MethodRewriter::SetCounters(uint32_t first, ByteWriter& out) {
  // Splits have no ids.
  std::vector<uint32_t> ids;
  for (const CounterPosition& counter : counters()) {
    ids.push_back(first);
    first += IsCounter(counter) ? 1 : 0;
  }
  for (const auto& [index, position] : id_positions_.counters) {
    const uint16_t constant = IdNeedsConstant(ids[index]) ? pool_.AddInteger(ids[index]) : 0;
    PutId(out.data() + position, ids[index], constant);
  }
}

// A class initialiser has no call site in its caller: any instruction may run it.
uint32_t MethodRewriter::PushedId(uint32_t id) const {
  return numbers_ != nullptr && !spec_.call_site.empty() && method_.info->name == "<clinit>"
             ? id | kWithoutCallSite
             : id;
}

void MethodRewriter::SetId(uint32_t id, ByteWriter& out) {
  const auto put = [&](const std::vector<size_t>& positions, uint32_t value) {
    if (positions.empty()) return;
    const uint16_t constant = IdNeedsConstant(value) ? pool_.AddInteger(value) : 0;
    for (const size_t position : positions) PutId(out.data() + position, value, constant);
  };
  put(id_positions_.method, PushedId(id));
  put(id_positions_.unwind, id);
  for (const auto& [change, position] : id_positions_.call_sites) {
    PutId(out.data() + position, numbers_->NumberOf(id, method_.call_sites.changes()[change].site),
          0);
  }
  for (const auto& [index, position] : id_positions_.points) {
    const TargetId target = IdOf(method_.points[index]);
    PutId(out.data() + position, target.id, target.constant);
  }
}

}  // namespace jtrace::classfile
