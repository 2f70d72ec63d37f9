#include "agent/calls/classfile/bytecode_editor.h"

#include <algorithm>
#include <limits>

#include "common/classfile/annotations.h"

namespace jtrace::classfile {
namespace {

// goto_w and jsr_w have offsets of 32 bits instead of 16 (JVMS 6.5).
constexpr int kWideGotoGrowth = 2;

bool FitsJump16(int64_t offset) {
  return offset >= std::numeric_limits<int16_t>::min() &&
         offset <= std::numeric_limits<int16_t>::max();
}

// target_type values, JVMS 4.7.20, table 4.7.20-B: those that occur in a Code attribute.
constexpr uint8_t kTargetLocalVariable = 0x40;
constexpr uint8_t kTargetResourceVariable = 0x41;
constexpr uint8_t kTargetCatch = 0x42;
constexpr uint8_t kTargetInstanceof = 0x43;
constexpr uint8_t kTargetMethodReference = 0x46;
constexpr uint8_t kTargetCast = 0x47;
constexpr uint8_t kTargetReferenceTypeArgument = 0x4B;

// Copies a table and moves positions in the copy: no table changes its size.
class Relocator {
 public:
  Relocator(Bytes body, const BytecodeEditor& editor, ByteWriter& out)
      : reader_(body), editor_(editor), out_(out), base_(out.size()) {
    out.Append(body);
  }

  bool LineNumbers() {
    for (int n = reader_.U2(); n > 0 && ok(); --n) {
      Start();
      reader_.Skip(2);  // line_number
    }
    return Done();
  }

  bool LocalVariables() {
    for (int n = reader_.U2(); n > 0 && ok(); --n) {
      Range();
      reader_.Skip(6);  // name, descriptor or signature, and slot
    }
    return Done();
  }

  bool TypeAnnotations() {
    for (int n = reader_.U2(); n > 0 && ok(); --n) {
      Target();
      reader_.Skip(size_t{2} * reader_.U1());  // type_path
      SkipAnnotation(reader_, good_);
    }
    return Done();
  }

 private:
  bool ok() const { return good_ && reader_.ok(); }
  bool Done() const { return ok() && reader_.AtEnd(); }

  void Patch(size_t at, uint32_t position) {
    if (position > kMaxU2) {
      good_ = false;
    } else {
      out_.PatchU2(base_ + at, position);
    }
  }

  uint32_t StartPosition(uint16_t bci) const { return bci == 0 ? 0 : editor_.PositionOf(bci); }

  void Start() {
    const size_t at = reader_.position();
    const uint16_t bci = reader_.U2();
    if (ok()) Patch(at, StartPosition(bci));
  }

  void Range() {
    const size_t at = reader_.position();
    const uint16_t start = reader_.U2();
    const uint16_t length = reader_.U2();
    if (!ok()) return;
    const uint32_t first = StartPosition(start);
    const uint32_t last = editor_.PositionOf(uint32_t{start} + length);
    if (last == BytecodeEditor::kNowhere) {
      good_ = false;
      return;
    }
    Patch(at, first);
    Patch(at + 2, length == 0 ? 0 : last - first);
  }

  void Instruction() {
    const size_t at = reader_.position();
    const uint16_t bci = reader_.U2();
    if (ok()) Patch(at, editor_.Moved(bci));
  }

  void Target() {
    const uint8_t type = reader_.U1();
    if (type == kTargetLocalVariable || type == kTargetResourceVariable) {
      for (int n = reader_.U2(); n > 0 && ok(); --n) {
        Range();
        reader_.Skip(2);  // slot
      }
    } else if (type == kTargetCatch) {
      reader_.Skip(2);  // exception table row; not adjusted for BlockProbes::WriteFirstRows
    } else if (type >= kTargetInstanceof && type <= kTargetMethodReference) {
      Instruction();
    } else if (type >= kTargetCast && type <= kTargetReferenceTypeArgument) {
      Instruction();
      reader_.Skip(1);  // type_argument_index
    } else {
      good_ = false;
    }
  }

  ByteReader reader_;
  const BytecodeEditor& editor_;
  ByteWriter& out_;
  const size_t base_;
  bool good_ = true;
};

}  // namespace

Reason BytecodeEditor::Scan(Bytes code) {
  code_ = code;
  insertions_ = {};
  branches_.clear();
  is_start_.assign(code.size(), 0);
  for (size_t at = 0; at < code.size();) {
    const uint8_t opcode = code[at];
    const size_t length = InstructionLength(code, at);
    if (length == 0) return Reason::kMalformedCode;
    is_start_[at] = 1;
    const OperandKind kind = KindOf(opcode);
    if ((kind != OperandKind::kPlain && kind != OperandKind::kWide) || IsReturn(opcode)) {
      branches_.push_back({.bci = static_cast<uint32_t>(at), .opcode = opcode});
    }
    at += length;
  }
  return TargetsExist() ? Reason::kNone : Reason::kMalformedCode;
}

bool BytecodeEditor::TargetsExist() const {
  bool all = true;
  for (const Branch& branch : branches_) {
    ForEachTarget(branch, [&](int64_t target) {
      if (target < 0 || target >= std::ssize(code_) || is_start_[target] == 0) all = false;
    });
  }
  return all;
}

int64_t BytecodeEditor::JumpTarget(const Branch& branch) const {
  const uint8_t* operand = code_.data() + branch.bci + 1;
  return KindOf(branch.opcode) == OperandKind::kBranch32
             ? int64_t{branch.bci} + static_cast<int32_t>(LoadU4(operand))
             : int64_t{branch.bci} + static_cast<int16_t>(LoadU2(operand));
}

Reason BytecodeEditor::Layout(absl::Span<const Insertion> insertions) {
  insertions_ = insertions;
  for (Branch& branch : branches_) branch.widened = false;
  position_.resize(code_.size() + 1);
  moved_.resize(code_.size() + 1);
  jump_too_far_ = false;
  // Widening one jump may push another out of reach; each round widens at least one.
  do {
    ComputePositions();
  } while (!FitJumps());
  return jump_too_far_ ? Reason::kJumpTooFar : Reason::kNone;
}

void BytecodeEditor::ComputePositions() {
  uint32_t delta = 0;  // modulo 2^32: padding may shrink
  uint32_t at = 0;
  auto insertion = insertions_.begin();
  auto branch = branches_.begin();
  const auto end = static_cast<uint32_t>(code_.size());
  auto resizes = [](const Branch& s) {
    return s.widened || KindOf(s.opcode) == OperandKind::kSwitch;
  };
  for (;;) {
    while (branch != branches_.end() && !resizes(*branch)) ++branch;
    uint32_t stop = end;
    if (insertion != insertions_.end()) stop = std::min(stop, insertion->bci);
    if (branch != branches_.end()) stop = std::min(stop, branch->bci);
    for (; at < stop; ++at) position_[at] = moved_[at] = at + delta;
    for (; insertion != insertions_.end() && insertion->bci == at && insertion->skipped_by_jumps;
         ++insertion) {
      delta += static_cast<uint32_t>(insertion->bytes.size());
    }
    position_[at] = at + delta;
    for (; insertion != insertions_.end() && insertion->bci == at; ++insertion) {
      delta += static_cast<uint32_t>(insertion->bytes.size());
    }
    moved_[at] = at + delta;
    if (at == end) return;
    if (branch != branches_.end() && branch->bci == at) {
      delta += branch->widened ? kWideGotoGrowth
                               : static_cast<uint32_t>(SwitchPadding(moved_[at])) -
                                     static_cast<uint32_t>(SwitchPadding(at));
      ++branch;
    }
    ++at;
  }
}

bool BytecodeEditor::FitJumps() {
  bool fits = true;
  if (code_.size() <= std::numeric_limits<int16_t>::max() &&
      new_size() <= std::numeric_limits<int16_t>::max()) {
    return true;
  }
  for (Branch& branch : branches_) {
    if (KindOf(branch.opcode) != OperandKind::kBranch16 || branch.widened) continue;
    const int64_t offset = int64_t{position_[JumpTarget(branch)]} - moved_[branch.bci];
    if (FitsJump16(offset)) continue;
    if (branch.opcode == kOpGoto || branch.opcode == kOpJsr) {
      branch.widened = true;
      fits = false;
    } else {
      jump_too_far_ = true;
    }
  }
  return fits || jump_too_far_;
}

void BytecodeEditor::WriteBranch(const Branch& branch, ByteWriter& out) const {
  const OperandKind kind = KindOf(branch.opcode);
  if (kind == OperandKind::kSwitch) {
    WriteSwitch(branch, out);
    return;
  }
  const uint32_t offset = position_[JumpTarget(branch)] - moved_[branch.bci];
  if (kind == OperandKind::kBranch32) {
    out.U1(branch.opcode);
    out.U4(offset);
  } else if (branch.widened) {
    out.U1(branch.opcode == kOpGoto ? kOpGotoW : kOpJsrW);
    out.U4(offset);
  } else {
    out.U1(branch.opcode);
    out.U2(offset);
  }
}

void BytecodeEditor::WriteSwitch(const Branch& branch, ByteWriter& out) const {
  const SwitchTable table = ParseSwitch(code_, branch.bci);
  const uint32_t moved = moved_[branch.bci];
  out.U1(branch.opcode);
  for (size_t n = SwitchPadding(moved); n > 0; --n) out.U1(0);
  const size_t operands = out.size();
  out.Append(code_.subspan(table.operands, table.size));
  auto relocate = [&](size_t at) {
    const uint32_t target = branch.bci + LoadU4(code_.data() + at);  // modulo 2^32
    out.PatchU4(operands + at - table.operands, position_[target] - moved);
  };
  relocate(table.operands);
  for (size_t i = 0; i < table.count; ++i) relocate(table.first + i * table.stride);
}

bool RelocateTable(CodeTable table, Bytes body, const BytecodeEditor& editor, ByteWriter& out) {
  Relocator relocator(body, editor, out);
  switch (table) {
    case CodeTable::kLineNumbers:
      return relocator.LineNumbers();
    case CodeTable::kLocalVariables:
      return relocator.LocalVariables();
    case CodeTable::kTypeAnnotations:
      return relocator.TypeAnnotations();
    default:
      return false;
  }
}

}  // namespace jtrace::classfile
