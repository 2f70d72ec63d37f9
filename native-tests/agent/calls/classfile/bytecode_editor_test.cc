#include "agent/calls/classfile/bytecode_editor.h"

#include <gtest/gtest.h>

#include <random>

#include "native-tests/support/class_builder.h"

namespace jtrace::classfile {
namespace {

using test::ByteVector;

// Random code: plain instructions, jumps of both widths and switches, to targets chosen afterwards.
class RandomCode {
 public:
  explicit RandomCode(uint32_t seed) : random_(seed) {
    const size_t count = 1 + Below(60);
    for (size_t i = 0; i < count; ++i) Emit();
    code_.push_back(kOpReturn);
    starts_.push_back(static_cast<uint32_t>(code_.size() - 1));
    for (const auto& [at, base, wide] : patches_) {
      const uint32_t target = starts_[Below(starts_.size())];
      if (wide) {
        StoreU4(&code_[at], target - base);
      } else {
        StoreU2(&code_[at], target - base);
      }
    }
  }

  const ByteVector& code() const { return code_; }
  const std::vector<uint32_t>& starts() const { return starts_; }
  size_t Below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }

 private:
  struct Patch {
    size_t at;
    uint32_t base;
    bool wide;
  };

  void Emit() {
    const auto at = static_cast<uint32_t>(code_.size());
    starts_.push_back(at);
    switch (Below(7)) {
      case 0:
        code_.insert(code_.end(), {kOpIfeq, 0, 0});
        patches_.push_back({at + 1u, at, false});
        break;
      case 1:
        code_.insert(code_.end(), {kOpGotoW, 0, 0, 0, 0});
        patches_.push_back({at + 1u, at, true});
        break;
      case 2:
        EmitSwitch(at, Below(2) == 0 ? kOpTableswitch : kOpLookupswitch);
        break;
      case 3:
        code_.insert(code_.end(), {kOpWide, 132, 0, 1, 0, 1});
        break;
      case 4:
        code_.push_back(kOpReturn);
        break;
      default:
        code_.insert(code_.end(), {kOpSipush, kOpReturn, kOpGoto});  // operands like opcodes
    }
  }

  void EmitSwitch(uint32_t at, uint8_t opcode) {
    const auto count = static_cast<uint32_t>(1 + Below(4));
    test::BytesOf bytes;
    bytes.U1(opcode);
    for (size_t i = SwitchPadding(at); i > 0; --i) bytes.U1(0);
    const size_t operands = at + 1 + SwitchPadding(at);
    patches_.push_back({operands, at, true});
    bytes.U4(0);
    const bool table = opcode == kOpTableswitch;
    if (table) {
      bytes.U4(5).U4(5 + count - 1);
    } else {
      bytes.U4(count);
    }
    for (uint32_t i = 0; i < count; ++i) {
      if (!table) bytes.U4(i);
      patches_.push_back({operands + (table ? 12 + 4 * i : 12 + 8 * i), at, true});
      bytes.U4(0);
    }
    const ByteVector all = bytes;
    code_.insert(code_.end(), all.begin(), all.end());
  }

  std::mt19937 random_;
  ByteVector code_;
  std::vector<uint32_t> starts_;
  std::vector<Patch> patches_;
};

std::vector<int64_t> TargetsOf(const BytecodeEditor& editor, uint32_t bci) {
  std::vector<int64_t> targets;
  for (const BytecodeEditor::Branch& branch : editor.branches()) {
    if (branch.bci != bci) continue;
    editor.ForEachTarget(branch, [&](int64_t target) { targets.push_back(target); });
  }
  return targets;
}

// After any insertions: every instruction is still there in order, only the insertions are between
// them, and every jump leads to its target's position.
TEST(BytecodeEditorTest, KeepsInstructionsAndTargets) {
  const ByteVector marker = {kOpNop, kOpNop, kOpSipush, 1, 2};
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    RandomCode random(seed);
    std::vector<Insertion> insertions;
    for (const uint32_t start : random.starts()) {
      const size_t size = 1 + random.Below(2);  // one or two nops
      if (start == 0) insertions.push_back({0, true, marker});
      if (random.Below(3) == 0) insertions.push_back({start, false, Bytes(marker).first(size)});
    }
    BytecodeEditor before;
    ASSERT_EQ(before.Scan(random.code()), Reason::kNone);
    ASSERT_EQ(before.Layout(insertions), Reason::kNone);
    ByteWriter out;
    size_t inserted = 0;
    before.Write(out, [&](size_t index, size_t position) {
      EXPECT_EQ(index, inserted++);
      EXPECT_LE(position, before.Moved(insertions[index].bci));
    });
    ASSERT_EQ(inserted, insertions.size());
    ASSERT_EQ(out.size(), before.new_size());

    BytecodeEditor after;
    ASSERT_EQ(after.Scan(out.bytes()), Reason::kNone);
    uint32_t end_of_last = 0;
    for (const uint32_t start : random.starts()) {
      const uint32_t moved = before.Moved(start);
      for (uint32_t at = end_of_last; at < moved;) {
        const uint8_t opcode = out.bytes()[at];
        ASSERT_TRUE(opcode == kOpNop || opcode == kOpSipush);
        at += static_cast<uint32_t>(InstructionLength(out.bytes(), at));
      }
      ASSERT_TRUE(after.IsInstruction(moved));
      ASSERT_EQ(out.bytes()[moved], random.code()[start]);
      const std::vector<int64_t> old_targets = TargetsOf(before, start);
      const std::vector<int64_t> new_targets = TargetsOf(after, moved);
      ASSERT_EQ(old_targets.size(), new_targets.size());
      for (size_t i = 0; i < old_targets.size(); ++i) {
        EXPECT_EQ(new_targets[i], before.PositionOf(static_cast<uint32_t>(old_targets[i])));
      }
      end_of_last = moved + static_cast<uint32_t>(InstructionLength(out.bytes(), moved));
    }
    EXPECT_EQ(end_of_last, out.size());
  }
}

TEST(BytecodeEditorTest, PlacesAreOnlyInstructionsAndTheEnd) {
  const ByteVector code = {kOpSipush, 0, 0, kOpReturn};
  BytecodeEditor editor;
  ASSERT_EQ(editor.Scan(code), Reason::kNone);
  ASSERT_EQ(editor.Layout({}), Reason::kNone);
  EXPECT_EQ(editor.PositionOf(3), 3u);
  EXPECT_EQ(editor.PositionOf(4), 4u);
  EXPECT_EQ(editor.PositionOf(1), BytecodeEditor::kNowhere);
  EXPECT_EQ(editor.PositionOf(5), BytecodeEditor::kNowhere);
  EXPECT_EQ(editor.Moved(4), BytecodeEditor::kNowhere);
}

TEST(OpcodesTest, KnowsThoseOfTheJvmSpecification) {
  for (int opcode = 0; opcode < 256; ++opcode) {
    EXPECT_EQ(KindOf(static_cast<uint8_t>(opcode)) != OperandKind::kInvalid, opcode <= kOpJsrW);
  }
}

TEST(OpcodesTest, RejectsInstructionsThatDoNotFit) {
  const ByteVector cut = {kOpSipush, 0};
  EXPECT_EQ(InstructionLength(cut, 0), 0u);
  const ByteVector huge = {kOpLookupswitch, 0, 0, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff};
  EXPECT_EQ(InstructionLength(huge, 0), 0u);
  const ByteVector backwards = {kOpTableswitch, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 4};
  EXPECT_EQ(InstructionLength(backwards, 0), 0u);
}

}  // namespace
}  // namespace jtrace::classfile
