#include "agent/calls/classfile/bytecode_analysis.h"

#include <gtest/gtest.h>

#include <vector>

#include "common/classfile/opcodes.h"
#include "native-tests/support/class_builder.h"
#include "native-tests/support/rewritten_class.h"

namespace jtrace::classfile {
namespace {

using test::BytesOf;
using test::ByteVector;
using test::ClassBuilder;
using test::High;
using test::Low;

// The result of CallsNothing for a method of that class "T" with that body.
bool IsLeaf(ClassBuilder& builder, const ByteVector& body) {
  builder.Add({.code = body});
  const ByteVector bytes = builder.Build();
  const auto file = ParseClassFile(bytes);
  EXPECT_TRUE(file.ok()) << file.status();
  const MethodInfo& method = file->methods[0];
  CodeAttribute code;
  EXPECT_TRUE(code.Parse(
      Bytes(bytes).subspan(method.code_begin, method.code_end - method.code_begin), file->pool));
  return CallsNothing(*file, code);
}

bool IsLeafWith(uint8_t opcode, uint16_t (*constant)(ClassBuilder&)) {
  ClassBuilder builder;
  const uint16_t index = constant(builder);
  ByteVector body = {opcode, High(index), Low(index)};
  if (opcode == kOpLdc) body = {opcode, Low(index)};
  if (opcode == kOpMultianewarray) body.push_back(1);
  body.push_back(kOpReturn);
  return IsLeaf(builder, body);
}

uint16_t OwnClass(ClassBuilder& b) { return b.Class("T"); }
uint16_t OwnField(ClassBuilder& b) { return b.Field("T", "f", "I"); }
uint16_t OwnStatic(ClassBuilder& b) {
  b.StaticField("f", "I");
  return b.Field("T", "f", "I");
}
uint16_t OtherField(ClassBuilder& b) { return b.Field("U", "f", "I"); }
uint16_t Number(ClassBuilder& b) { return b.Integer(70'000); }
uint16_t Text(ClassBuilder& b) { return b.String("text"); }

TEST(LeafTest, ArithmeticLoopsAndThrowCallNothing) {
  ClassBuilder plain;
  EXPECT_TRUE(IsLeaf(plain, {kOpNop, kOpGoto, 0xff, 0xff}));
  ClassBuilder athrow;
  EXPECT_TRUE(IsLeaf(athrow, {1, kOpAthrow}));
}

TEST(LeafTest, OwnFieldsAndPlainConstantsCallNothing) {
  EXPECT_TRUE(IsLeafWith(kOpGetfield, OwnField));
  EXPECT_TRUE(IsLeafWith(kOpPutfield, OwnField));
  EXPECT_TRUE(IsLeafWith(kOpGetstatic, OwnStatic));
  EXPECT_TRUE(IsLeafWith(kOpPutstatic, OwnStatic));
  EXPECT_TRUE(IsLeafWith(kOpLdc, Number));
  EXPECT_TRUE(IsLeafWith(kOpLdcW, Text));
}

TEST(LeafTest, LoadingOrInitialisingAClassMayCall) {
  EXPECT_FALSE(IsLeafWith(kOpGetfield, OtherField));
  EXPECT_FALSE(IsLeafWith(kOpPutstatic, OtherField));
  EXPECT_FALSE(IsLeafWith(kOpGetstatic, OwnField)) << "inherited, perhaps from an interface";
  EXPECT_FALSE(IsLeafWith(kOpLdc, OwnClass));
  EXPECT_FALSE(IsLeafWith(kOpLdcW, OwnClass));
  for (const uint8_t opcode :
       {kOpNew, kOpAnewarray, kOpCheckcast, kOpInstanceof, kOpMultianewarray}) {
    EXPECT_FALSE(IsLeafWith(opcode, OwnClass)) << int{opcode};
  }
}

TEST(LeafTest, EveryInvokeCalls) {
  for (const uint8_t opcode : {kOpInvokevirtual, kOpInvokespecial, kOpInvokestatic}) {
    ClassBuilder builder;
    const uint16_t method = builder.Method("T", "n", "()V");
    EXPECT_FALSE(IsLeaf(builder, {opcode, High(method), Low(method), kOpReturn}));
  }
  ClassBuilder builder;
  EXPECT_FALSE(IsLeaf(builder, {kOpInvokedynamic, 0, 1, 0, 0, kOpReturn}));
}

// 0: nop, 1: nop, 2: nop, 3: goto 1, 6: nop, 7: ifeq 12, 10: goto 7, 13: return
const std::vector<uint8_t> kCode = {0,       0, 0, kOpGoto, 0xFF, 0xFE, 0,
                                    kOpIfeq, 0, 5, kOpGoto, 0xFF, 0xFD, kOpReturn};

TEST(LoopsTest, ALoopExtendsFromABackwardBranchsTargetToTheBranch) {
  const bool expected[] = {false, true, true, true, false, false, false, true, false, false, true};
  for (const size_t bci : {0, 1, 2, 3, 6, 7, 10}) {
    EXPECT_EQ(IsInLoop(kCode, bci), expected[bci]) << bci;
  }
  EXPECT_FALSE(IsInLoop(kCode, 13));
}

TEST(LoopsTest, WideJumps) {
  const std::vector<uint8_t> code = {0, kOpGotoW, 0xFF, 0xFF, 0xFF, 0xFF, kOpReturn};
  EXPECT_TRUE(IsInLoop(code, 0));
  EXPECT_FALSE(IsInLoop(code, 6));
}

TEST(LoopsTest, MalformedCodeHasNoLoops) {
  EXPECT_FALSE(IsInLoop(std::vector<uint8_t>{}, 0));
  EXPECT_FALSE(IsInLoop(std::vector<uint8_t>{0xFF, kOpGoto, 0xFF, 0xFF}, 0));
  EXPECT_FALSE(IsInLoop(std::vector<uint8_t>{0, kOpGoto, 0xFF}, 0));
}

}  // namespace
}  // namespace jtrace::classfile
