#include "agent/calls/classfile/call_site_finder.h"

#include <algorithm>
#include <iterator>

#include "agent/calls/classfile/bytecode_analysis.h"
#include "agent/calls/classfile/monitor_points.h"

namespace jtrace::classfile {
namespace {

// Final classes whose methods run only the JDK's own code if no argument is an object of another
// class.
constexpr std::string_view kLeafJdkClasses[] = {
    "java/lang/Boolean", "java/lang/Byte",    "java/lang/Character",    "java/lang/Double",
    "java/lang/Float",   "java/lang/Integer", "java/lang/Long",         "java/lang/Math",
    "java/lang/Short",   "java/lang/String",  "java/lang/StringBuffer", "java/lang/StringBuilder",
};

// Classes that those call. If any of these gets probes, its calls count, too.
constexpr std::string_view kLeafJdkCallees[] = {
    "java/lang/AbstractStringBuilder",
    "java/lang/CharacterData",
    "java/lang/StringCoding",
    "java/lang/StringLatin1",
    "java/lang/StringUTF16",
    "java/lang/StrictMath",
    "java/util/Arrays",
    "java/util/Formatter",
    "java/util/Locale",
    "java/util/Objects",
    "java/util/regex/Pattern",
    "jdk/internal/util/ArraysSupport",
    "jdk/internal/util/Preconditions",
    "sun/nio/cs/UTF_8",
    "java/nio/charset/Charset",
};

// Types of objects that plain calls may get as arguments.
constexpr std::string_view kPlainArguments[] = {"Ljava/lang/String;", "Ljava/lang/StringBuilder;",
                                                "Ljava/lang/StringBuffer;"};

// Whether all parameters are of primitive types, of kPlainArguments, or arrays of those.
bool HasPlainArguments(std::string_view descriptor) {
  descriptor.remove_prefix(std::min<size_t>(descriptor.size(), 1));
  while (!descriptor.empty() && descriptor.front() != ')') {
    const auto plain =
        std::find_if(std::begin(kPlainArguments), std::end(kPlainArguments),
                     [&](std::string_view it) { return descriptor.starts_with(it); });
    if (plain != std::end(kPlainArguments)) {
      descriptor.remove_prefix(plain->size());
      continue;
    }
    if (descriptor.front() == 'L') return false;
    descriptor.remove_prefix(1);
  }
  return true;
}

bool IsEarlier(const CallSiteRange& a, const CallSiteRange& b) { return a.bci < b.bci; }

bool AreLeafJdkCallsUnprobed(const ScopeFilter* filter) {
  const auto in_scope = [&](std::string_view name) { return filter->MayMatchClass(name); };
  return filter != nullptr &&
         std::none_of(std::begin(kLeafJdkClasses), std::end(kLeafJdkClasses), in_scope) &&
         std::none_of(std::begin(kLeafJdkCallees), std::end(kLeafJdkCallees), in_scope);
}

}  // namespace

bool CannotCallBack(std::string_view class_name, std::string_view name,
                    std::string_view descriptor) {
  if (class_name == "java/lang/Object") return name == "<init>" || name == "getClass";
  if (class_name == "java/lang/System") {
    return name == "arraycopy" || name == "nanoTime" || name == "currentTimeMillis";
  }
  // String.equals accepts any object, but calls none of its methods.
  if (class_name == "java/lang/String" && name == "equals") return true;
  return std::find(std::begin(kLeafJdkClasses), std::end(kLeafJdkClasses), class_name) !=
             std::end(kLeafJdkClasses) &&
         HasPlainArguments(descriptor);
}

CallSiteFinder::CallSiteFinder(const ScopeFilter* filter, bool may_omit_only_site)
    : knows_plain_calls_(AreLeafJdkCallsUnprobed(filter)), may_be_one_(may_omit_only_site) {}

void CallSiteFinder::ReadLines(const CodeAttribute& code) {
  lines_.clear();
  for (const CodeSubAttribute& sub : code.attributes) {
    if (sub.table != CodeTable::kLineNumbers) continue;
    ByteReader reader(sub.body);
    for (uint32_t left = reader.U2(); left > 0 && reader.ok(); --left) {
      const uint32_t bci = reader.U2();
      const uint32_t line = reader.U2();
      if (reader.ok()) lines_.push_back({bci, CallSiteOfLine(line)});
    }
  }
  std::stable_sort(lines_.begin(), lines_.end(), IsEarlier);
}

void CallSiteFinder::FindTargets(const CodeAttribute& code, const BytecodeEditor& editor) {
  is_target_.assign(code.code.size() + 1, 0);
  for (const BytecodeEditor::Branch& branch : editor.branches()) {
    editor.ForEachTarget(branch,
                         [&](int64_t target) { is_target_[static_cast<size_t>(target)] = 1; });
    if (branch.opcode == kOpJsr || branch.opcode == kOpJsrW) {
      is_target_[branch.bci + InstructionLength(code.code, branch.bci)] = 1;
    }
  }
  for (const ExceptionRow& row : code.exceptions) {
    if (editor.IsInstruction(row.handler)) is_target_[row.handler] = 1;
  }
}

// Marks the instructions before which ProbePlanner puts the probes of these points.
void CallSiteFinder::FindCountedPoints(const CodeAttribute& code,
                                       absl::Span<const ProbePoint> points) {
  is_counted_.assign(code.code.size() + 1, 0);
  for (const ProbePoint& point : points) {
    if (point.kind == ProbePointKind::kThrown) is_counted_[point.bci] = 1;
    if (point.kind == ProbePointKind::kCaught) is_counted_[HandlerProbeBci(point.bci, code)] = 1;
    if (IsMonitorPoint(point.kind) && !point.is_method_monitor)
      is_counted_[MonitorProbeBci(point, code)] = 1;
  }
}

bool CallSiteFinder::MayCall(const ClassFile& file, Bytes code, uint32_t bci) const {
  if (is_counted_[bci] != 0) return true;
  if (!IsInvoke(code[bci])) return false;
  if (!knows_plain_calls_ || code[bci] == kOpInvokedynamic) return true;
  const auto callee = file.pool.Method(LoadU2(code.data() + bci + 1));
  return !callee || !CannotCallBack(callee->class_name, callee->name, callee->descriptor);
}

// Line number 0 stands for no line.
CallSite CallSiteFinder::CallSiteAt(uint32_t bci) const {
  const auto after = std::upper_bound(lines_.begin(), lines_.end(), CallSiteRange{bci}, IsEarlier);
  const CallSite line = after == lines_.begin() ? kNoCallSite : std::prev(after)->site;
  return line != kNoCallSite ? line : CallSiteOfBci(bci);
}

void CallSiteFinder::Find(const ClassFile& file, const CodeAttribute& code,
                          const BytecodeEditor& editor, absl::Span<const ProbePoint> points) {
  ReadLines(code);
  FindTargets(code, editor);
  FindCountedPoints(code, points);
  calls_.clear();
  changes_.clear();
  CallSite known = kNoCallSite;
  bool is_one = may_be_one_;
  for (uint32_t at = 0; at < code.code.size();
       at += static_cast<uint32_t>(InstructionLength(code.code, at))) {
    if (is_target_[at] != 0) known = kNoCallSite;
    if (IsInvoke(code.code[at])) calls_.push_back({at, CallSiteAt(at)});
    if (!MayCall(file, code.code, at)) continue;
    const CallSite site = CallSiteAt(at);
    if (site != known) changes_.push_back({at, site});
    known = site;
    is_one &= site == changes_.front().site;
  }
  only_ = is_one && !changes_.empty() ? changes_.front().site : kNoCallSite;
  if (only_ != kNoCallSite) changes_.clear();
}

std::vector<CallSiteRange> CallSiteFinder::Moved(const BytecodeEditor& editor) const {
  std::vector<CallSiteRange> moved;
  for (const CallSiteRange& row : lines_.empty() ? calls_ : lines_) {
    // A LineNumberTable may name a bci that is not an instruction.
    if (const uint32_t now = editor.PositionOf(row.bci); now != BytecodeEditor::kNowhere) {
      moved.push_back({lines_.empty() ? editor.Moved(row.bci) : now, row.site});
    }
  }
  return moved;
}

}  // namespace jtrace::classfile
