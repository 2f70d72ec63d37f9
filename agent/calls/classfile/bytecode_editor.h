// Inserts instructions into a method's bytecode and relocates its jumps and switches.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "agent/calls/classfile/reason.h"
#include "common/classfile/byte_io.h"
#include "common/classfile/code_attribute.h"
#include "common/classfile/opcodes.h"

namespace jtrace::classfile {

// Bytes to put in front of the instruction at `bci`.
struct Insertion {
  uint32_t bci = 0;
  bool skipped_by_jumps = false;  // jumps to `bci` land after it (entry probe), else on it
  Bytes bytes;                    // whole instructions without jumps
};

// Use: Scan, Layout, then Write and the position queries. One object serves many methods and keeps
// its buffers. Widens goto and jsr to their 32-bit forms when a jump outgrows 16 bits; a
// conditional jump that does so is rejected (kJumpTooFar).
class BytecodeEditor {
 public:
  // A jump, switch or return.
  struct Branch {
    uint32_t bci = 0;
    uint8_t opcode = 0;
    bool widened = false;
  };
  static constexpr uint32_t kNowhere = UINT32_MAX;

  // Checks the instructions and the targets of all jumps. `code` must outlive the other calls.
  Reason Scan(Bytes code);

  bool IsInstruction(uint32_t bci) const { return bci < code_.size() && is_start_[bci] != 0; }
  // All jumps, switches and returns, by bci.
  absl::Span<const Branch> branches() const { return branches_; }
  Bytes code() const { return code_; }
  // Calls f(target bci) for every possible target of the jump or switch, except falling through.
  template <typename F>
  void ForEachTarget(const Branch& branch, F&& f) const;

  // Computes the positions of the new code. `insertions` are ordered by bci; at one bci those that
  // jumps skip are first. They and their bytes must outlive the other calls.
  Reason Layout(absl::Span<const Insertion> insertions);

  // The new position of `bci` as the target of a jump, the bound of a range or the position of a
  // frame: after the insertions that jumps skip. kNowhere: no instruction, nor the code's end.
  uint32_t PositionOf(uint32_t bci) const {
    return bci == code_.size() || IsInstruction(bci) ? position_[bci] : kNowhere;
  }
  // The new position of the instruction itself, after the insertions before it; or kNowhere.
  uint32_t Moved(uint32_t bci) const { return IsInstruction(bci) ? moved_[bci] : kNowhere; }
  uint32_t new_size() const { return position_[code_.size()]; }

  // Appends the new code. Calls on_insert(index of the insertion, its position in the new code).
  template <typename F>
  void Write(ByteWriter& out, F&& on_insert) const;

 private:
  bool TargetsExist() const;
  void ComputePositions();
  bool FitJumps();
  void WriteBranch(const Branch& branch, ByteWriter& out) const;
  void WriteSwitch(const Branch& branch, ByteWriter& out) const;
  int64_t JumpTarget(const Branch& branch) const;

  Bytes code_;
  absl::Span<const Insertion> insertions_;
  std::vector<uint8_t> is_start_;
  std::vector<Branch> branches_;
  std::vector<uint32_t> position_;  // by bci: PositionOf
  std::vector<uint32_t> moved_;     // by bci: Moved
  bool jump_too_far_ = false;
};

template <typename F>
void BytecodeEditor::ForEachTarget(const Branch& branch, F&& f) const {
  if (IsReturn(branch.opcode)) return;
  if (KindOf(branch.opcode) != OperandKind::kSwitch) {
    f(JumpTarget(branch));
    return;
  }
  const SwitchTable table = ParseSwitch(code_, branch.bci);
  const uint8_t* base = code_.data();
  auto target = [&](size_t at) {
    return int64_t{branch.bci} + static_cast<int32_t>(LoadU4(base + at));
  };
  f(target(table.operands));
  for (size_t i = 0; i < table.count; ++i) f(target(table.first + i * table.stride));
}

template <typename F>
void BytecodeEditor::Write(ByteWriter& out, F&& on_insert) const {
  const size_t begin = out.size();
  size_t copied = 0;
  size_t next = 0;
  auto copy_to = [&](size_t bci) {
    if (bci > copied) out.Append(code_.subspan(copied, bci - copied));
    if (bci > copied) copied = bci;
  };
  auto insert_to = [&](size_t bci) {
    for (; next < insertions_.size() && insertions_[next].bci <= bci; ++next) {
      copy_to(insertions_[next].bci);
      on_insert(next, out.size() - begin);
      out.Append(insertions_[next].bytes);
    }
  };
  for (const Branch& branch : branches_) {
    insert_to(branch.bci);
    if (IsReturn(branch.opcode)) continue;
    copy_to(branch.bci);
    WriteBranch(branch, out);
    copied = branch.bci + InstructionLength(code_, branch.bci);
  }
  insert_to(code_.size());
  copy_to(code_.size());
}

// Appends the body of a LineNumberTable, LocalVariable(Type)Table or Runtime(In)VisibleType-
// Annotations attribute with its code positions moved as `editor` laid the code out. Ranges that
// start at 0 still start at 0: the entry probe belongs to the method's first line, and parameters
// live through it. False if the table is malformed or points outside the code.
bool RelocateTable(CodeTable table, Bytes body, const BytecodeEditor& editor, ByteWriter& out);

}  // namespace jtrace::classfile
