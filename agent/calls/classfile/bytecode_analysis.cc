#include "agent/calls/classfile/bytecode_analysis.h"

#include <algorithm>

#include "common/classfile/opcodes.h"

namespace jtrace::classfile {
namespace {

// Whether access to the field initialises no other class. An inherited static field may belong to
// an interface that is not initialised yet.
bool IsOwnField(const ClassFile& file, uint16_t index, bool is_static) {
  const auto field = file.pool.Field(index);
  if (!field || field->class_name != file.this_name) return false;
  return !is_static || std::find(file.static_fields.begin(), file.static_fields.end(),
                                 field->name) != file.static_fields.end();
}

bool MayCall(const ClassFile& file, const uint8_t* instruction) {
  const uint8_t opcode = instruction[0];
  switch (opcode) {
    case kOpLdc:
      return !file.pool.IsPlainValue(instruction[1]);
    case kOpLdcW:
    case kOpLdc2W:
      return !file.pool.IsPlainValue(LoadU2(instruction + 1));
    case kOpGetstatic:
    case kOpPutstatic:
      return !IsOwnField(file, LoadU2(instruction + 1), /*is_static=*/true);
    case kOpGetfield:
    case kOpPutfield:
      return !IsOwnField(file, LoadU2(instruction + 1), /*is_static=*/false);
    case kOpNew:
    case kOpAnewarray:
    case kOpMultianewarray:
    case kOpCheckcast:
    case kOpInstanceof:
      return true;
    default:
      return IsInvoke(opcode);
  }
}

// JVMS 6.5.invokespecial.
constexpr uint32_t kInvokespecialSize = 3;

bool EndsStraightLine(uint8_t opcode) {
  return KindOf(opcode) == OperandKind::kBranch16 || KindOf(opcode) == OperandKind::kBranch32 ||
         KindOf(opcode) == OperandKind::kSwitch || opcode == kOpRet || opcode == kOpAthrow ||
         IsReturn(opcode);
}

// JVMS 6.5: the first and last opcodes of groups.
constexpr uint8_t kIaload = 46;
constexpr uint8_t kSaload = 53;
constexpr uint8_t kIastore = 79;
constexpr uint8_t kSastore = 86;
constexpr uint8_t kIdiv = 108;
constexpr uint8_t kLdiv = 109;
constexpr uint8_t kIrem = 112;
constexpr uint8_t kLrem = 113;
constexpr uint8_t kMonitorenter = 194;

// Whether something may be stored into local variable 0; any `wide` counts as that.
bool StoresIntoFirstLocal(Bytes code) {
  for (size_t at = 0; at < code.size(); at += InstructionLength(code, at)) {
    const uint8_t opcode = code[at];
    if (opcode == kOpAstore0 || (opcode == kOpAstore && code[at + 1] == 0) || opcode == kOpWide) {
      return true;
    }
  }
  return false;
}

class PointFinder {
 public:
  PointFinder(const ClassFile& file, const MethodInfo& method, const CodeAttribute& code)
      : file_(file),
        code_(code.code),
        first_is_this_((method.access & kAccStatic) == 0 && !StoresIntoFirstLocal(code.code)) {}

  // `follows_this`: the instruction before it, in the same block, pushed local variable 0.
  bool MayThrow(uint32_t bci, bool follows_this) const {
    const uint8_t opcode = code_[bci];
    switch (opcode) {
      case kOpLdc:
        return !file_.pool.IsPlainValue(code_[bci + 1]);
      case kOpLdcW:
      case kOpLdc2W:
        return !file_.pool.IsPlainValue(LoadU2(code_.data() + bci + 1));
      case kOpGetstatic:
      case kOpPutstatic:
        return !IsOwnStatic(bci);
      case kOpGetfield:
        return !(follows_this && first_is_this_ && IsOwn(bci));
      case kIdiv:
      case kLdiv:
      case kIrem:
      case kLrem:
      case kMonitorenter:
      case kOpMultianewarray:
        return true;
      default:
        return (opcode >= kIaload && opcode <= kSaload) ||
               (opcode >= kIastore && opcode <= kSastore) ||
               (opcode >= kOpPutfield && opcode <= kOpInstanceof);
    }
  }

 private:
  bool IsOwn(uint32_t bci) const {
    const auto field = file_.pool.Field(LoadU2(code_.data() + bci + 1));
    return field && field->class_name == file_.this_name;
  }
  bool IsOwnStatic(uint32_t bci) const {
    const auto field = file_.pool.Field(LoadU2(code_.data() + bci + 1));
    return field && field->class_name == file_.this_name &&
           std::find(file_.static_fields.begin(), file_.static_fields.end(), field->name) !=
               file_.static_fields.end();
  }

  const ClassFile& file_;
  const Bytes code_;
  const bool first_is_this_;
};

// The offset of a branch; 0 for other instructions.
int64_t OffsetOf(Bytes code, size_t at) {
  const uint8_t* const operand = code.data() + at + 1;
  switch (KindOf(code[at])) {
    case OperandKind::kBranch16:
      return static_cast<int16_t>(LoadU2(operand));
    case OperandKind::kBranch32:
      return static_cast<int32_t>(LoadU4(operand));
    default:
      return 0;
  }
}

}  // namespace

bool CallsNothing(const ClassFile& file, const CodeAttribute& code) {
  for (size_t at = 0; at < code.code.size(); at += InstructionLength(code.code, at)) {
    if (MayCall(file, code.code.data() + at)) return false;
  }
  return true;
}

uint32_t HandlerProbeBci(uint32_t handler, const CodeAttribute& attribute) {
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

// Finds the first call of a constructor of this class or its superclass that initialises no object
// of a preceding `new`.
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
                                       const BytecodeEditor& editor) {
  if (file.super_name.empty()) return 0;
  const auto call = FindSuperCall(file, code.code);
  if (!call) return std::nullopt;
  const uint32_t end = *call + kInvokespecialSize;
  if (end >= code.code.size()) return std::nullopt;
  bool one_way_in = true;
  for (const BytecodeEditor::Branch& branch : editor.branches()) {
    if (branch.bci >= end) break;
    editor.ForEachTarget(branch, [&](int64_t target) { one_way_in &= target < end; });
    one_way_in &= branch.opcode != kOpJsr && branch.opcode != kOpJsrW;
  }
  for (const ExceptionRow& row : code.exceptions) {
    one_way_in &= row.start >= end || row.handler < end;
  }
  return one_way_in ? std::optional<uint32_t>(end) : std::nullopt;
}

std::vector<uint32_t> ThrowingPoints(const ClassFile& file, const MethodInfo& method,
                                     const CodeAttribute& code, const FlowGraph& graph) {
  const PointFinder finder(file, method, code);
  std::vector<uint32_t> points;
  for (const FlowGraph::Block& block : graph.blocks) {
    bool follows_this = false;
    for (uint32_t at = block.begin; at < block.end;
         at += static_cast<uint32_t>(InstructionLength(code.code, at))) {
      if (finder.MayThrow(at, follows_this)) points.push_back(at);
      follows_this = code.code[at] == kOpAload0;
    }
  }
  return points;
}

bool IsInLoop(Bytes code, size_t bci) {
  for (size_t at = 0; at < code.size();) {
    const size_t length = InstructionLength(code, at);
    if (length == 0) return false;
    const int64_t offset = OffsetOf(code, at);
    const int64_t back_to = static_cast<int64_t>(at) + offset;
    if (at >= bci && offset < 0 && back_to <= static_cast<int64_t>(bci)) return true;
    at += length;
  }
  return false;
}

}  // namespace jtrace::classfile
