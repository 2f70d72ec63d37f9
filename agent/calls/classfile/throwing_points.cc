#include "agent/calls/classfile/throwing_points.h"

#include <algorithm>

#include "common/classfile/opcodes.h"

namespace jtrace::classfile {
namespace {

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

// Whether something is ever stored into local variable 0.
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

}  // namespace

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

}  // namespace jtrace::classfile
