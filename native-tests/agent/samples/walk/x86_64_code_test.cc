#include "agent/samples/walk/x86_64_code.h"

#include <ctype.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <map>
#include <string>
#include <vector>

#include "agent/samples/walk/call_instruction.h"
#include "agent/samples/walk/stack_shape_x86_64.h"

namespace jtrace::samples {
namespace {

using Bytes = std::vector<uint8_t>;

Instruction DecodeBytes(const Bytes& bytes) {
  const auto at = reinterpret_cast<uintptr_t>(bytes.data());
  return Decode(at, at + bytes.size());
}

struct Case {
  const char* text;
  Bytes bytes;
  StackEffect effect;
  int delta;
};

TEST(DecodeTest, KnowsInstructionsThatMoveTheStackPointer) {
  const Case cases[] = {
      {"push rbp", {0x55}, StackEffect::kPushRbp, 8},
      {"push r13", {0x41, 0x55}, StackEffect::kMove, 8},
      {"push imm32", {0x68, 1, 2, 3, 4}, StackEffect::kMove, 8},
      {"push [rbp-8]", {0xff, 0x75, 0xf8}, StackEffect::kMove, 8},
      {"pushf", {0x9c}, StackEffect::kMove, 8},
      {"pop rbp", {0x5d}, StackEffect::kPopRbp, -8},
      {"pop r13", {0x41, 0x5d}, StackEffect::kMove, -8},
      {"pop rsp", {0x5c}, StackEffect::kUnknown, 0},
      {"pop r12", {0x41, 0x5c}, StackEffect::kMove, -8},
      {"sub rsp, 0x20", {0x48, 0x83, 0xec, 0x20}, StackEffect::kMove, 0x20},
      {"sub rsp, 0x180", {0x48, 0x81, 0xec, 0x80, 1, 0, 0}, StackEffect::kMove, 0x180},
      {"add rsp, 0x20", {0x48, 0x83, 0xc4, 0x20}, StackEffect::kMove, -0x20},
      {"sub rsp, -0x80", {0x48, 0x83, 0xec, 0x80}, StackEffect::kMove, -0x80},
      {"lea rsp, [rsp+8]", {0x48, 0x8d, 0x64, 0x24, 8}, StackEffect::kMove, -8},
      {"lea rsp, [rbp-16]", {0x48, 0x8d, 0x65, 0xf0}, StackEffect::kUnknown, 0},
      {"cmp rsp, 1", {0x48, 0x83, 0xfc, 1}, StackEffect::kNone, 0},
      {"cmp rsp, [r15+0x350]", {0x49, 0x3b, 0xa7, 0x50, 3, 0, 0}, StackEffect::kNone, 0},
      {"and rsp, -16", {0x48, 0x83, 0xe4, 0xf0}, StackEffect::kUnknown, 0},
      {"mov rsp, rbx", {0x48, 0x8b, 0xe3}, StackEffect::kUnknown, 0},
      {"mov rbp, rsp (8b)", {0x48, 0x8b, 0xec}, StackEffect::kSetFrame, 0},
      {"mov rbp, rsp (89)", {0x48, 0x89, 0xe5}, StackEffect::kSetFrame, 0},
      {"mov r13, rsp", {0x4c, 0x8b, 0xec}, StackEffect::kNone, 0},
      {"mov [rsp+0x10], rbp", {0x48, 0x89, 0x6c, 0x24, 0x10}, StackEffect::kSaveRbp, 0},
      {"leave", {0xc9}, StackEffect::kLeave, 0},
      {"ret", {0xc3}, StackEffect::kReturn, 0},
      {"jmp r13", {0x41, 0xff, 0xe5}, StackEffect::kJump, 0},
      {"ja rel32", {0x0f, 0x87, 1, 0, 0, 0}, StackEffect::kNone, 0},
      {"call rel32", {0xe8, 1, 0, 0, 0}, StackEffect::kCall, 0},
      {"call [rax+8]", {0xff, 0x50, 8}, StackEffect::kCall, 0},
      {"vzeroupper", {0xc5, 0xf8, 0x77}, StackEffect::kNone, 0},
  };
  for (const Case& c : cases) {
    const Instruction instruction = DecodeBytes(c.bytes);
    EXPECT_EQ(instruction.length, static_cast<int>(c.bytes.size())) << c.text;
    EXPECT_EQ(instruction.effect, c.effect) << c.text;
    EXPECT_EQ(instruction.delta, c.delta) << c.text;
  }
}

TEST(DecodeTest, KnowsWhereConditionalJumpsLead) {
  const auto distance = [](const Bytes& bytes) {
    const auto at = reinterpret_cast<uintptr_t>(bytes.data());
    const uintptr_t target = ConditionalTarget(at, at + bytes.size());
    return target == 0 ? 0 : static_cast<int64_t>(target - at);
  };
  EXPECT_EQ(distance({0x74, 0x16}), 2 + 0x16);
  EXPECT_EQ(distance({0x75, 0xfb}), 2 - 5);
  EXPECT_EQ(distance({0x0f, 0x85, 1, 2, 0, 0}), 6 + 0x201);
  EXPECT_EQ(distance({0x0f, 0x8c, 0xf0, 0xff, 0xff, 0xff}), 6 - 16);
  EXPECT_EQ(distance({0xeb, 0x16}), 0) << "unconditional";
  EXPECT_EQ(distance({0x0f, 0x95, 0xc0, 0, 0, 0}), 0) << "setne al";
}

TEST(DecodeTest, KnowsInstructionsThatSetTheStackPointer) {
  const auto from = [](const Bytes& bytes) {
    const auto at = reinterpret_cast<uintptr_t>(bytes.data());
    return RegisterToSp(at, at + bytes.size());
  };
  EXPECT_EQ(from({0x48, 0x8b, 0xe3}), 3) << "mov rsp, rbx";
  EXPECT_EQ(from({0x49, 0x8b, 0xe3}), 11) << "mov rsp, r11";
  EXPECT_EQ(from({0x48, 0x89, 0xdc}), 3) << "mov rsp, rbx (89)";
  EXPECT_EQ(from({0x4c, 0x89, 0xec}), 13) << "mov rsp, r13 (89)";
  EXPECT_EQ(from({0x4c, 0x8b, 0xe3}), -1) << "mov r12, rbx";
  EXPECT_EQ(from({0x48, 0x8b, 0x23}), -1) << "mov rsp, [rbx]";
  EXPECT_EQ(from({0x49, 0x8b}), -1);
}

TEST(DecodeTest, ReadsNothingPastTheEnd) {
  EXPECT_EQ(DecodeBytes({0x48}).length, 0);
  EXPECT_EQ(DecodeBytes({0xe8, 1, 0}).length, 0);
  EXPECT_EQ(Decode(16, 16).length, 0);
}

// The disassembler of binutils as the oracle, over all code of this test and of its libraries.
TEST(DecodeTest, AgreesWithObjdumpOnLengths) {
  const std::string command =
      "objdump -d -w /proc/" + std::to_string(getpid()) + "/exe 2>/dev/null";
  FILE* const pipe = popen(command.c_str(), "re");
  ASSERT_NE(pipe, nullptr);
  char* line = nullptr;
  size_t size = 0;
  int checked = 0, wrong = 0;
  while (getline(&line, &size, pipe) > 0) {
    // "  address:\tbytes in hex \tmnemonic operands"
    const char* const tab = strchr(line, '\t');
    if (tab == nullptr || strstr(tab, "(bad)") != nullptr) continue;
    Bytes bytes;
    for (const char* p = tab + 1; isxdigit(p[0]) != 0 && isxdigit(p[1]) != 0; p += 3) {
      bytes.push_back(static_cast<uint8_t>(strtoul(std::string(p, 2).c_str(), nullptr, 16)));
    }
    if (bytes.empty()) continue;
    const size_t length = bytes.size();
    bytes.resize(length + 16, 0x90);
    ++checked;
    if (DecodeBytes(bytes).length != static_cast<int>(length) && ++wrong < 10) {
      ADD_FAILURE() << DecodeBytes(bytes).length << " for " << line;
    }
  }
  free(line);
  pclose(pipe);
  if (checked == 0) GTEST_SKIP() << "no objdump";
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(checked, 10'000);
}

TEST(EndsWithCallTest, KnowsEveryFormOfCall) {
  const Bytes calls[] = {
      {0x90, 0x90, 0x90, 0xe8, 1, 2, 3, 4},              // call rel32
      {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0},  // call rax
      {0x90, 0x90, 0x90, 0x90, 0x90, 0x41, 0xff, 0xd2},  // call r10
      {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0x10},  // call [rax]
      {0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0x50, 0x18},  // call [rax+0x18]
      {0x90, 0x90, 0xff, 0x90, 0, 1, 0, 0},              // call [rax+0x100]
      {0x90, 0x90, 0xff, 0x15, 0, 1, 0, 0},              // call [rip+0x100]
      {0x90, 0x90, 0x90, 0x90, 0xff, 0x54, 0xd8, 8},     // call [rax+rbx*8+8]
      {0x90, 0xff, 0x94, 0xd8, 0, 1, 0, 0},              // call [rax+rbx*8+0x100]
  };
  for (const Bytes& call : calls) EXPECT_TRUE(EndsWithCall(call.data()));
  const Bytes others[] = {
      {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90},
      {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xe0},  // jmp rax
      {0x90, 0x90, 0x90, 0xe9, 1, 2, 3, 4},              // jmp rel32
  };
  for (const Bytes& other : others) EXPECT_FALSE(EndsWithCall(other.data()));
}

FrameShape FromEntry(const Bytes& bytes, size_t pc) {
  const auto at = reinterpret_cast<uintptr_t>(bytes.data());
  return ShapeFromEntry(at, at + pc);
}

TEST(ShapeTest, FollowsAFramelessStub) {
  // push rbx; sub rsp, 0x10; add rsp, 0x10; pop rbx; ret
  const Bytes code = {0x53, 0x48, 0x83, 0xec, 0x10, 0x48, 0x83, 0xc4, 0x10, 0x5b, 0xc3};
  const std::map<size_t, int> offsets = {{0, 0}, {1, 8}, {5, 24}, {9, 8}, {10, 0}};
  for (const auto& [pc, offset] : offsets) {
    const FrameShape shape = FromEntry(code, pc);
    EXPECT_EQ(shape.kind, FrameShape::kAtSp) << pc;
    EXPECT_EQ(shape.offset, offset) << pc;
    EXPECT_EQ(shape.rbp_offset, -1) << pc;
  }
}

TEST(ShapeTest, FollowsAnRbpFrame) {
  // push rbp; mov rbp, rsp; sub rsp, 0x20; leave; ret
  const Bytes code = {0x55, 0x48, 0x8b, 0xec, 0x48, 0x83, 0xec, 0x20, 0xc9, 0xc3};
  const FrameShape pushed = FromEntry(code, 1);
  EXPECT_EQ(pushed.kind, FrameShape::kAtSp);
  EXPECT_EQ(pushed.offset, 8);
  EXPECT_EQ(pushed.rbp_offset, 0);
  for (const size_t pc : {4, 8}) {
    EXPECT_EQ(FromEntry(code, pc).kind, FrameShape::kAtFp);
    EXPECT_EQ(FromEntry(code, pc).offset, 8);
  }
  EXPECT_EQ(FromEntry(code, 9).kind, FrameShape::kAtSp);
  EXPECT_EQ(FromEntry(code, 9).offset, 0);
}

TEST(ShapeTest, ContinuesAfterAReturn) {
  // push rbx; jz +2; pop rbx; ret; (again pushed) nop
  const Bytes code = {0x53, 0x74, 0x02, 0x5b, 0xc3, 0x90};
  EXPECT_EQ(FromEntry(code, 5).offset, 8);
}

TEST(ShapeTest, FollowsAnEpilogue) {
  // add rsp, 0x20; pop rbp; cmp rsp, [r15+0x350]; ja +0; ret
  const Bytes code = {0x48, 0x83, 0xc4, 0x20, 0x5d, 0x49, 0x3b, 0xa7, 0x50, 0x03,
                      0,    0,    0x0f, 0x87, 0,    0,    0,    0,    0xc3};
  const auto at = reinterpret_cast<uintptr_t>(code.data());
  const auto shape = [&](size_t pc) { return ShapeToReturn(at + pc, at + code.size(), 8); };
  EXPECT_EQ(shape(0).offset, 0x28);
  EXPECT_EQ(shape(0).rbp_offset, 0x20);
  EXPECT_EQ(shape(4).offset, 8);
  EXPECT_EQ(shape(5).offset, 0);
  EXPECT_EQ(shape(5).rbp_offset, -1);
  EXPECT_EQ(shape(18).kind, FrameShape::kAtSp);
}

TEST(ShapeTest, CountsTheBytesASlowPathRestores) {
  // pop rax; add rsp, 0x10; jmp -2
  const Bytes code = {0x58, 0x48, 0x83, 0xc4, 0x10, 0xeb, 0xfe};
  const auto at = reinterpret_cast<uintptr_t>(code.data());
  EXPECT_EQ(PoppedBeforeJump(at, at + code.size(), 10), 0x18);
  const Bytes call = {0x58, 0xe8, 0, 0, 0, 0, 0xeb, 0xfe};
  const auto with_call = reinterpret_cast<uintptr_t>(call.data());
  EXPECT_EQ(PoppedBeforeJump(with_call, with_call + call.size(), 10), -1);
}

TEST(SavedSpTest, IsWhereThePopFindsIt) {
  // sub rsp, 0x10; push rax; pop rax; push rax; push r9; dec rbx; jnz -5; pop rsp; ret
  const Bytes code = {0x48, 0x83, 0xec, 0x10, 0x50, 0x58, 0x50, 0x41, 0x51,
                      0x48, 0xff, 0xcb, 0x75, 0xfb, 0x5c, 0xc3, 0x90, 0x90};
  const auto at = reinterpret_cast<uintptr_t>(code.data());
  const auto saved = [&](size_t pc) { return FindSavedSp(at + pc, at + code.size()); };
  for (const size_t pc : {0, 4, 5, 6, 7}) {
    EXPECT_EQ(saved(pc).kind, SavedSp::kInRegister) << pc;
    EXPECT_EQ(saved(pc).number, 9) << pc;
  }
  for (const size_t pc : {9, 12, 14}) EXPECT_EQ(saved(pc).kind, SavedSp::kOnTop) << pc;
  EXPECT_EQ(saved(15).kind, SavedSp::kNone);
}

TEST(SavedSpTest, IsAbsentBeforeTheCopyOrPastACall) {
  const Bytes others[] = {
      {0x48, 0x8b, 0xcc, 0x51, 0x5c},  // mov rcx, rsp; push rcx; pop rsp
      {0x49, 0x89, 0xe0, 0x5c},        // mov r8, rsp; pop rsp
      {0xe8, 0, 0, 0, 0, 0x5c},        // call; pop rsp
      {0x58, 0x5c},                    // pop rax; pop rsp: what it will pop is not on top
      {0x41, 0x5c, 0x90},              // pop r12
      {0x90, 0x90},
  };
  for (Bytes bytes : others) {
    bytes.resize(bytes.size() + 4, 0x90);
    const auto at = reinterpret_cast<uintptr_t>(bytes.data());
    EXPECT_EQ(FindSavedSp(at, at + bytes.size()).kind, SavedSp::kNone);
  }
}

}  // namespace
}  // namespace jtrace::samples
