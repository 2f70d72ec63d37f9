// Instructions as text. disassembly_oracle.py compares whole classes of the JDK with javap.
#include "common/classfile/disassembly.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/classfile/code_attribute.h"
#include "common/classfile/opcodes.h"
#include "native-tests/support/class_builder.h"

namespace jtrace::classfile {
namespace {

// "MNEMONIC OPERANDS" of each instruction of `code`, in class a/B.
std::vector<std::string> Disassembled(test::ClassBuilder& builder, const test::ByteVector& code) {
  test::TestMethod method;
  method.code = code;
  const test::ByteVector bytes = builder.Add(method).Build();
  const auto file = ParseClassFile(bytes);
  EXPECT_TRUE(file.ok());
  std::vector<std::string> lines;
  for (size_t at = 0; at < code.size(); at += InstructionLength(code, at)) {
    std::string operands = OperandText(*file, code, at);
    if (!operands.empty()) operands.insert(0, 1, ' ');
    lines.push_back(Mnemonic(code, at) + operands);
    if (InstructionLength(code, at) == 0) break;
  }
  return lines;
}

uint8_t High(uint16_t index) { return static_cast<uint8_t>(index >> 8); }
uint8_t Low(uint16_t index) { return static_cast<uint8_t>(index); }

using Lines = std::vector<std::string>;

TEST(DisassemblyTest, PlainOperands) {
  test::ClassBuilder builder("a/B");
  EXPECT_EQ(Disassembled(builder, {kOpNop,   16,  0xff,    kOpSipush,   0xff, 0x00,
                                   kOpIload, 200, kOpIinc, 3,           0xff, kOpWide,
                                   kOpIinc,  1,   0,       0xff,        0xfe, kOpWide,
                                   kOpAload, 1,   2,       kOpNewarray, 10,   kOpReturn}),
            (Lines{"nop", "bipush -1", "sipush -256", "iload 200", "iinc 3, -1", "iinc_w 256, -2",
                   "aload_w 258", "newarray int", "return"}));
}

TEST(DisassemblyTest, JumpsHaveTheirTargets) {
  test::ClassBuilder builder("a/B");
  EXPECT_EQ(Disassembled(builder, {kOpNop, kOpIfeq, 0, 4, kOpNop, kOpGoto, 0xff, 0xfb, kOpGotoW, 0,
                                   0, 0, 5, kOpReturn}),
            (Lines{"nop", "ifeq 5", "nop", "goto 0", "goto_w 13", "return"}));
}

TEST(DisassemblyTest, SwitchesHaveTheirCases) {
  test::ClassBuilder builder("a/B");
  const test::ByteVector table = test::BytesOf()
                                     .U1(kOpTableswitch)
                                     .U1(0)
                                     .U2(0)
                                     .U4(28)
                                     .U4(0xffffffff)
                                     .U4(1)
                                     .U4(24)
                                     .U4(25)
                                     .U4(26);
  EXPECT_EQ(Disassembled(builder, table), (Lines{"tableswitch -1: 24, 0: 25, 1: 26, default: 28"}));
  test::ClassBuilder other("a/B");
  const test::ByteVector lookup =
      test::BytesOf().U1(kOpLookupswitch).U1(0).U2(0).U4(20).U4(1).U4(0xfffffff6).U4(24);
  EXPECT_EQ(Disassembled(other, lookup), (Lines{"lookupswitch -10: 24, default: 20"}));
}

TEST(DisassemblyTest, ConstantsAreResolved) {
  test::ClassBuilder builder("a/B");
  const uint16_t own = builder.Method("a/B", "f", "()V");
  const uint16_t init = builder.Method("java/lang/Object", "<init>", "()V");
  const uint16_t field = builder.Field("c/D", "x", "[I");
  const uint16_t array = builder.Class("[[I");
  const uint16_t plain = builder.Class("c/D");
  const uint16_t number = builder.Integer(0xffffffff);
  const uint16_t text = builder.String("a\"b\n\t\x01'\xC0\x80\xC2\x85\xC3\xA4");
  EXPECT_EQ(
      Disassembled(builder,
                   {kOpInvokestatic, High(own),    Low(own),    kOpInvokespecial, High(init),
                    Low(init),       kOpGetstatic, High(field), Low(field),       kOpMultianewarray,
                    High(array),     Low(array),   2,           kOpNew,           High(plain),
                    Low(plain),      kOpLdc,       Low(number), kOpLdcW,          High(text),
                    Low(text)}),
      (Lines{"invokestatic Method f:()V", "invokespecial Method java/lang/Object.\"<init>\":()V",
             "getstatic Field c/D.x:[I", "multianewarray class \"[[I\", 2", "new class c/D",
             "ldc int -1", "ldc_w String a\\\"b\\n\\t\\u0001\\'\\u0000\\u0085\xC3\xA4"}));
}

TEST(DisassemblyTest, DamagedConstantsAreQuestions) {
  test::ClassBuilder builder("a/B");
  EXPECT_EQ(Disassembled(builder, {kOpLdc, 200, kOpInvokestatic, 0, 0, kOpNewarray, 99}),
            (Lines{"ldc ?", "invokestatic ?", "newarray ?"}));
}

}  // namespace
}  // namespace jtrace::classfile
