// A compiled method that was interrupted in a string search, which lowers rsp by an amount that
// depends on its data, on a stack full of words that look like callers.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "agent/samples/walk/walker.h"
#include "native-tests/agent/samples/walk/code_heap_fixture.h"

namespace jtrace::samples {
namespace {

constexpr int kWordsOfFrame = 8;  // of the method that searches, with return address and rbp

// HotSpot's C2 code, abridged: small strings are copied to the stack first.
const std::vector<uint8_t> kSearch = {
    0x55,                                                                 // push rbp
    0x48, 0x83, 0xec, 0x30,                                               // sub rsp, 0x30
    0x0f, 0x1f, 0x84, 0,    0, 0, 0, 0, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0,  // two long nops
    0x48, 0x8b, 0xcc,                                                     // 21: mov rcx, rsp
    0x74, 0x09,                                                           // 24: jz +9
    0x48, 0x83, 0xec, 0x10,                                               // 26: sub rsp, 0x10
    0x50,                                                                 // 30: push rax
    0x48, 0xff, 0xc8,                                                     // 31: dec rax
    0x58,                                                                 // 34: pop rax
    0x50,                                                                 // 35: push rax
    0x56,                                                                 // 36: push rsi
    0x57,                                                                 // 37: push rdi
    0x51,                                                                 // 38: push rcx
    0x48, 0xff, 0xc3,                                                     // 39: inc rbx
    0x75, 0xfb,                                                           // 42: jnz -5
    0x5c,                                                                 // 44: pop rsp
    0x89, 0xd8,                                                           // 45: mov eax, ebx
    0x48, 0x83, 0xc4, 0x30,                                               // 47: add rsp, 0x30
    0x5d,                                                                 // 51: pop rbp
    0xc3,                                                                 // 52: ret
};

struct SetInterrupted {
  uint32_t offset;  // of the pc
  int words;        // that rsp was lowered by
};
const SetInterrupted kInterrupts[] = {
    {21, 0}, {24, 0}, {26, 0}, {30, 2}, {31, 3}, {34, 3}, {35, 2}, {35, 0}, {35, 4},
    {36, 3}, {36, 1}, {37, 4}, {37, 2}, {38, 5}, {38, 3}, {39, 4}, {39, 6}, {39, 8},
    {42, 8}, {42, 4}, {44, 6}, {44, 4}, {45, 0}, {47, 0}, {39, 4},
};

class StringSearchTest : public WalkedStackTest {
 protected:
  static constexpr uint64_t kSearcher = 0x100;  // raw: no address of a method
  static constexpr int kFrame = 16;             // index of the searching frame's sp in the stack

  void SetUp() override {
    const std::vector<uint8_t> calls(16, 0xe8);  // a call may end after any byte
    heap_.Add(0, kNmethod, kWordsOfFrame, kSearcher, kSearch);
    heap_.Add(1, kNmethod, 4, kCaller, calls);
    heap_.Add(2, kStub, 4, 0, calls);
  }

  // Left by code that ran before at this depth: calls from a stub.
  void FillStack(const SetInterrupted& at) {
    for (uintptr_t& word : stack_) word = heap_.Code(2) + 16;
    stack_[kFrame + kWordsOfFrame - 1] = heap_.Code(1) + 16;
    stack_[kFrame + kWordsOfFrame + 3] = heap_.vm().call_stub_return;
    const uintptr_t frame = Address(kFrame);
    Set(REG_RIP, heap_.Code(0) + at.offset);
    Set(REG_RSP, Address(kFrame - at.words));
    // From the last push on rsp is on the stack, and the register is used for other things.
    const bool pushed = at.offset >= 39 && at.offset < 45;
    if (pushed) stack_[kFrame - at.words] = frame;
    Set(REG_RCX, pushed || at.offset < 24 ? 1 : frame);
  }

  void ExpectTrueChain(LastWalk::Storage* memory) {
    const Chain chain = Walk(memory);
    ASSERT_GE(chain.pushed(), 2u);
    EXPECT_EQ(chain.frame(0).kind, FrameKind::kCompiled);
    EXPECT_EQ(chain.frame(0).value, kSearcher);
    EXPECT_EQ(chain.frame(1).kind, FrameKind::kCompiled);
    EXPECT_EQ(chain.frame(1).value, kCaller);
  }
};

TEST_F(StringSearchTest, FindsTheCallerAtEachPlace) {
  for (const SetInterrupted& at : kInterrupts) {
    SCOPED_TRACE(testing::Message() << "pc " << at.offset << ", " << at.words << " words");
    FillStack(at);
    ExpectTrueChain(nullptr);
  }
}

// The frame kept for a pc must be valid for any amount.
TEST_F(StringSearchTest, FindsTheCallerAgain) {
  const auto memory = std::make_unique<LastWalk::Storage>();
  for (int round = 0; round < 2; ++round) {
    for (const SetInterrupted& at : kInterrupts) {
      SCOPED_TRACE(testing::Message() << "pc " << at.offset << ", " << at.words << " words");
      FillStack(at);
      ExpectTrueChain(memory.get());
    }
  }
}

}  // namespace
}  // namespace jtrace::samples
