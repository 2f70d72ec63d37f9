#include "agent/calls/classfile/probe_point_finder.h"

#include <algorithm>
#include <iterator>

#include "agent/calls/classfile/bytecode_analysis.h"
#include "agent/calls/classfile/descriptor.h"
#include "agent/calls/classfile/monitor_points.h"
#include "common/classfile/opcodes.h"

namespace jtrace::classfile {
namespace {

constexpr std::string_view kObject = "java/lang/Object";
constexpr std::string_view kThrowable = "java/lang/Throwable";

constexpr CallReasonInfo kCallReasons[] = {
    {"invokedynamic", "the class file does not say what an invokedynamic calls"},
    {"object-constructor", "Object.<init> is empty, and every constructor ends in it"},
    {"probe-class", "calls of jtrace's own classes and of those its probes run through"},
    {"not-wanted", "rules of costs= that leave them out"},
    {"guarded-constructor", "super(...) inside a try block leaves no place for a probe"},
    {"no-room", "the method or its class would grow beyond what the JIT or the format allows"},
};
static_assert(std::size(kCallReasons) == kCallReasonCount);

void Count(CallReasonCounts& counts, CallReason reason) { ++counts[static_cast<size_t>(reason)]; }

bool IsCovered(uint32_t bci, const CodeAttribute& code) {
  return std::any_of(code.exceptions.begin(), code.exceptions.end(),
                     [bci](const ExceptionRow& row) { return row.start <= bci && bci < row.end; });
}

// The slot of an `aload` or `astore`, whose short forms begin at `first_short`; -1 if `at` holds
// another instruction.
int SlotAt(Bytes code, uint32_t at, uint8_t opcode, uint8_t first_short) {
  if (code[at] >= first_short && code[at] < first_short + kShortFormSlots) {
    return code[at] - first_short;
  }
  if (code[at] == opcode) return code[at + 1];
  if (code[at] == kOpWide && code[at + 1] == opcode) return LoadU2(code.data() + at + 2);
  return -1;
}

// Whether the athrow throws again the exception that a `finally` or a `synchronized` block caught,
// as javac compiles them: the handler for anything stores it in a local, from which it is thrown
// again.
bool IsRethrow(uint32_t before_athrow, const CodeAttribute& code, const BytecodeEditor& editor) {
  const int loaded = SlotAt(code.code, before_athrow, kOpAload, kOpAload0);
  if (loaded < 0) return false;
  return std::any_of(code.exceptions.begin(), code.exceptions.end(), [&](const ExceptionRow& row) {
    return row.catch_type == 0 && editor.IsInstruction(row.handler) &&
           SlotAt(code.code, row.handler, kOpAstore, kOpAstore0) == loaded;
  });
}

// "(I)Ljava/io/IOException;" → "java/io/IOException"; nothing if it returns no object of a class.
std::string_view ReturnedClass(std::string_view descriptor) {
  const size_t end = descriptor.rfind(')');
  if (end == std::string_view::npos || descriptor.size() < end + 3) return {};
  if (descriptor[end + 1] != 'L' || descriptor.back() != ';') return {};
  return descriptor.substr(end + 2, descriptor.size() - end - 3);
}

}  // namespace

const CallReasonInfo& Describe(CallReason reason) {
  return kCallReasons[static_cast<size_t>(reason)];
}

CallProbe ProbeOfLastArgument(std::string_view descriptor) {
  std::string_view last;
  DescriptorReader parameters(descriptor);
  while (const auto next = parameters.Next()) last = *next;
  if (last == "I") return CallProbe::kElements;
  const bool has_length = last.starts_with('[') || last == "Ljava/lang/String;";
  return has_length ? CallProbe::kElementsOf : CallProbe::kUsual;
}

void ProbePointFinder::Find(const MethodInfo& method, const CodeAttribute& code,
                            const BytecodeEditor& editor, std::vector<ProbePoint>& points,
                            CallReasonCounts& left_out) {
  points.clear();
  if (spec_.boundary) FindCalls(method, code, points, left_out);
  if (spec_.thrown) FindThrown(code, editor, points);
  if (spec_.caught) FindCaught(code, editor, points);
  if (spec_.monitors) FindMonitorPoints(method, code, points);
}

ProbeTarget ProbePointFinder::TargetOf(const ProbePoint& point) const {
  if (IsMonitorPoint(point.kind)) return {.kind = point.kind, .class_name = kObject};
  const auto member = file_.pool.Method(point.constant);
  const bool is_call = point.kind == ProbePointKind::kCall || point.kind == ProbePointKind::kNative;
  if (is_call && member) {
    return {point.kind, OwnerOf(*member), member->name, member->descriptor};
  }
  if (member) {
    const std::string_view made =
        member->name == "<init>" ? member->class_name : ReturnedClass(member->descriptor);
    return {.kind = point.kind, .class_name = made.empty() ? kThrowable : made};
  }
  return {.kind = point.kind,
          .class_name = file_.pool.ClassName(point.constant).value_or(kThrowable)};
}

// The class that declares the method that an instruction names, as far as this class file shows.
std::string_view ProbePointFinder::OwnerOf(const ConstantPool::Member& callee) const {
  // Arrays have only the methods that they inherit from Object.
  if (callee.class_name.starts_with('[')) return kObject;
  // A superinterface, in scope or not, may have the method as a default method.
  if (callee.class_name != file_.this_name || file_.interface_count != 0) return callee.class_name;
  const bool is_declared =
      std::any_of(file_.methods.begin(), file_.methods.end(), [&](const MethodInfo& method) {
        return method.name == callee.name && method.descriptor == callee.descriptor;
      });
  return is_declared || filter_.Includes(file_.super_name, callee.name) ? callee.class_name
                                                                        : file_.super_name;
}

ProbePointFinder::Verdict ProbePointFinder::Classify(uint16_t methodref) {
  if (verdicts_.empty()) {
    verdicts_.resize(file_.pool.count());
    probes_.resize(file_.pool.count());
  }
  if (methodref >= verdicts_.size()) return Verdict::kNoPoint;
  Verdict& verdict = verdicts_[methodref];
  if (verdict != Verdict::kUnknown) return verdict;
  verdict = ClassifyUncached(methodref);
  if (verdict == Verdict::kLeaves || verdict == Verdict::kNative) {
    probes_[methodref] = ProbeOf(methodref);
  }
  return verdict;
}

CallProbe ProbePointFinder::ProbeOf(uint16_t methodref) {
  const bool has_any = spec_.timed_calls || spec_.elements;
  if (!has_any || spec_.token != TokenKind::kLong) return CallProbe::kUsual;
  const CallProbe probe = targets_.ProbeOf(TargetOf({.constant = methodref}));
  const bool has = probe == CallProbe::kTimed ? spec_.timed_calls : spec_.elements;
  return has ? probe : CallProbe::kUsual;
}

ProbePointFinder::Verdict ProbePointFinder::ClassifyUncached(uint16_t methodref) {
  if (!file_.pool.Method(methodref)) return Verdict::kNoPoint;
  const ProbeTarget callee = TargetOf({.constant = methodref});
  if (callee.class_name == kObject && callee.name == "<init>") return Verdict::kObjectConstructor;
  if (ScopeFilter::IsOwnClass(callee.class_name)) return Verdict::kProbe;
  if (!filter_.Includes(callee.class_name, callee.name)) {
    return targets_.IsWanted(callee) ? Verdict::kLeaves : Verdict::kNotWanted;
  }
  const bool native =
      (callee.class_name == file_.this_name && IsOwnNative(callee.name, callee.descriptor)) ||
      targets_.IsNative(callee);
  if (!native) return Verdict::kNoPoint;
  return spec_.methods || targets_.IsWanted(callee) ? Verdict::kNative : Verdict::kNotWanted;
}

bool ProbePointFinder::IsOwnNative(std::string_view name, std::string_view descriptor) {
  return std::any_of(file_.methods.begin(), file_.methods.end(), [&](const MethodInfo& method) {
    return (method.access & kAccNative) != 0 && method.name == name &&
           method.descriptor == descriptor;
  });
}

void ProbePointFinder::FindCalls(const MethodInfo& method, const CodeAttribute& code,
                                 std::vector<ProbePoint>& points, CallReasonCounts& left_out) {
  const auto super_call = method.name == "<init>" ? FindSuperCall(file_, code.code) : std::nullopt;
  for (uint32_t at = 0; at < code.code.size();
       at += static_cast<uint32_t>(InstructionLength(code.code, at))) {
    const uint8_t opcode = code.code[at];
    if (opcode == kOpInvokedynamic) Count(left_out, CallReason::kDynamic);
    if (!IsInvoke(opcode) || opcode == kOpInvokedynamic) continue;
    // The probe after super(...) would be in a block whose handler sees `this` uninitialised.
    if (super_call == at && IsCovered(at, code)) {
      Count(left_out, CallReason::kGuardedConstructor);
      continue;
    }
    AddCall(at, code.code, points, left_out);
  }
}

void ProbePointFinder::AddCall(uint32_t bci, Bytes code, std::vector<ProbePoint>& points,
                               CallReasonCounts& left_out) {
  const uint16_t callee = LoadU2(code.data() + bci + 1);
  const Verdict verdict = Classify(callee);
  switch (verdict) {
    case Verdict::kObjectConstructor:
      Count(left_out, CallReason::kObjectConstructor);
      return;
    case Verdict::kProbe:
      Count(left_out, CallReason::kProbe);
      return;
    case Verdict::kNotWanted:
      Count(left_out, CallReason::kNotWanted);
      return;
    case Verdict::kLeaves:
    case Verdict::kNative:
      break;
    default:
      return;
  }
  // A call at the very end cannot return; only unreachable code has it.
  if (bci + InstructionLength(code, bci) >= code.size()) return;
  const ProbePointKind kind =
      verdict == Verdict::kNative ? ProbePointKind::kNative : ProbePointKind::kCall;
  points.push_back({.kind = kind, .bci = bci, .constant = callee, .probe = probes_[callee]});
}

void ProbePointFinder::FindThrown(const CodeAttribute& code, const BytecodeEditor& editor,
                                  std::vector<ProbePoint>& points) const {
  uint32_t before = 0;
  for (uint32_t at = 0; at < code.code.size();
       before = at, at += static_cast<uint32_t>(InstructionLength(code.code, at))) {
    if (code.code[at] != kOpAthrow || (at > 0 && IsRethrow(before, code, editor))) continue;
    const uint8_t maker = code.code[before];
    const bool made_here = IsInvoke(maker) && maker != kOpInvokedynamic;
    const uint16_t constant = made_here ? LoadU2(code.code.data() + before + 1) : uint16_t{0};
    points.push_back({.kind = ProbePointKind::kThrown, .bci = at, .constant = constant});
  }
}

// Adds one point for each handler. A handler of several classes has an unknown class (constant 0).
void ProbePointFinder::FindCaught(const CodeAttribute& code, const BytecodeEditor& editor,
                                  std::vector<ProbePoint>& points) const {
  const size_t begin = points.size();
  for (const ExceptionRow& row : code.exceptions) {
    if (row.catch_type == 0 || !editor.IsInstruction(row.handler)) continue;
    const auto known =
        std::find_if(points.begin() + static_cast<ptrdiff_t>(begin), points.end(),
                     [&](const ProbePoint& point) { return point.bci == row.handler; });
    if (known == points.end()) {
      points.push_back(
          {.kind = ProbePointKind::kCaught, .bci = row.handler, .constant = row.catch_type});
    } else if (known->constant != row.catch_type) {
      known->constant = 0;
    }
  }
}

}  // namespace jtrace::classfile
