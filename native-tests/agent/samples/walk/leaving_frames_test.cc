// Code that has taken its frame down, or builds another one in its place: adapters, returns from
// native methods and from the interpreter. Interrupted at each instruction, on a stack full of
// words that look like callers: only the code's next steps show where the true one is.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "agent/samples/walk/walker.h"
#include "native-tests/agent/samples/walk/code_heap_fixture.h"

namespace jtrace::samples {
namespace {

using Code = std::vector<uint8_t>;

// One place to interrupt. Registers that are not given here mislead.
struct SetInterrupted {
  uint32_t offset;  // of the pc
  int words;        // by which rsp is below the caller's frame
  int slot;         // where the return address is: words below the caller's frame; 0: in a register
  int return_register = -1;  // REG_… that has it
  int frame_register = -1;   // REG_… that has the begin of the caller's frame
  int slot_register = -1;    // REG_… that has the slot's address
};

struct Scenario {
  const char* blob;
  int frame_size;
  Code code;
  FrameKind kind;  // of the frame that is interrupted
  std::vector<SetInterrupted> interrupts;
  bool interpreter = false;
  bool callee_in_rax = false;  // its entry; else rax misleads
};

alignas(8) constexpr char kAdapter[24] = "I2C/C2I adapters";
alignas(8) constexpr char kWrapper[24] = "native nmethod";
alignas(8) constexpr char kInterpreter[24] = "Interpreter";
alignas(8) constexpr char kResolveStub[24] = "RuntimeStub - resolve";

// From compiled code to an interpreted method, as JDK 25 has it, with a shorter call into the JVM.
const Scenario kAdapter25 = {kAdapter,
                             0,
                             {
                                 0x83, 0x78, 0x24, 0x00,              // cmp dword [rax+0x24], 0
                                 0x75, 0x05,                          // 4: jne +5
                                 0xe9, 0,    0,    0,    1,           // 6: jmp elsewhere
                                 0x48, 0x83, 0x7b, 0x48, 0,           // 11: cmp qword [rbx+0x48], 0
                                 0x74, 0x23,                          // 16: je +35
                                 0x4c, 0x8b, 0xec,                    // 18: mov r13, rsp
                                 0x48, 0x8b, 0x04, 0x24,              // 21: mov rax, [rsp]
                                 0x48, 0x83, 0xe4, 0xf0,              // 25: and rsp, -16
                                 0x9c,                                // 29: pushf
                                 0x48, 0x81, 0xec, 0x88, 0,    0, 0,  // 30: sub rsp, 0x88
                                 0xe8, 0,    0,    0,    1,           // 37: call the JVM
                                 0x48, 0x81, 0xc4, 0x88, 0,    0, 0,  // 42: add rsp, 0x88
                                 0x9d,                                // 49: popf
                                 0x49, 0x8b, 0xe5,                    // 50: mov rsp, r13
                                 0x4c, 0x8d, 0x6c, 0x24, 8,           // 53: lea r13, [rsp+8]
                                 0x58,                                // 58: pop rax
                                 0x48, 0x83, 0xec, 0x20,              // 59: sub rsp, 0x20
                                 0x50,                                // 63: push rax
                                 0x48, 0x89, 0x74, 0x24, 0x10,        // 64: mov [rsp+0x10], rsi
                                 0x48, 0x8b, 0x4b, 0x38,              // 69: mov rcx, [rbx+0x38]
                                 0xff, 0xe1,                          // 73: jmp rcx
                             },
                             FrameKind::kStub,
                             {
                                 {0, 1, 1},
                                 {4, 1, 1},
                                 {11, 1, 1},
                                 {16, 1, 1},
                                 {18, 1, 1},
                                 {21, 1, 1, -1, -1, REG_R13},
                                 {25, 1, 1, -1, -1, REG_R13},
                                 {29, 2, 1, -1, -1, REG_R13},
                                 {30, 3, 1, -1, -1, REG_R13},
                                 {37, 20, 1, -1, -1, REG_R13},
                                 {42, 20, 1, -1, -1, REG_R13},
                                 {49, 3, 1, -1, -1, REG_R13},
                                 {50, 2, 1, -1, -1, REG_R13},
                                 {53, 1, 1},
                                 {58, 1, 1, -1, REG_R13},
                                 {59, 0, 0, REG_RAX, REG_R13},
                                 {63, 4, 0, REG_RAX, REG_R13},
                                 {64, 5, 5, -1, REG_R13},
                                 {69, 5, 5, -1, REG_R13},
                                 {73, 5, 5, -1, REG_R13},
                             }};

// As in JDK 17: r13 is set after the pop.
const Scenario kAdapter17 = {kAdapter,
                             0,
                             {
                                 0x48, 0x83, 0x7b, 0x48, 0,           // cmp qword [rbx+0x48], 0
                                 0x0f, 0x84, 0,    0,    0,    0,     // 5: je +0
                                 0x58,                                // 11: pop rax
                                 0x4c, 0x8b, 0xec,                    // 12: mov r13, rsp
                                 0x48, 0x83, 0xec, 0x20,              // 15: sub rsp, 0x20
                                 0x48, 0x89, 0x04, 0x24,              // 19: mov [rsp], rax
                                 0xc5, 0xfb, 0x11, 0x44, 0x24, 0x08,  // 23: vmovsd [rsp+8], xmm0
                                 0x48, 0x8b, 0x4b, 0x38,              // 29: mov rcx, [rbx+0x38]
                                 0xff, 0xe1,                          // 33: jmp rcx
                             },
                             FrameKind::kStub,
                             {
                                 {0, 1, 1},
                                 {5, 1, 1},
                                 {11, 1, 1},
                                 {12, 0, 0, REG_RAX},
                                 {15, 0, 0, REG_RAX, REG_R13},
                                 {19, 4, 0, REG_RAX, REG_R13},
                                 {23, 4, 4, -1, REG_R13},
                                 {29, 4, 4, -1, REG_R13},
                                 {33, 4, 4, -1, REG_R13},
                             }};

// The end of a native method's wrapper, whose poll has its slow path in line (JDK 25).
const Scenario kNativeReturn = {
    kWrapper,
    10,
    {
        0x55, 0x48, 0x8b, 0xec, 0x48, 0x83, 0xec, 0x40,  // push rbp; mov rbp, rsp; sub rsp, 0x40
        0x0f, 0x1f, 0x84, 0,    0,    0,    0,    0,     // 8: a long nop
        0x0f, 0x1f, 0x84, 0,    0,    0,    0,    0,     // 16: another
        0x49, 0xba, 1,    2,    3,    4,    5,    6,
        0,    0,  // 24: mov r10, imm64: no poll, but where native code begins
        0x4d, 0x89, 0x97, 0x88, 4,    0,    0,  // 34: mov [r15+0x488], r10
        0xc9,                                   // 41: leave
        0x41, 0xf6, 0x47, 0x28, 0x01,           // 42: test byte [r15+0x28], 1
        0x74, 0x16,                             // 47: je +22
        0x49, 0xba, 1,    2,    3,    4,    5,    6,
        0,    0,                                // 49: mov r10, imm64
        0x4d, 0x89, 0x97, 0x38, 5,    0,    0,  // 59: mov [r15+0x538], r10
        0xe9, 0,    0,    0,    1,              // 66: jmp the poll's stub
        0x49, 0x83, 0x7f, 0x08, 0,              // 71: cmp qword [r15+8], 0
        0x0f, 0x85, 1,    0,    0,    0,        // 76: jne +1
        0xc3,                                   // 82: ret
        0xe9, 0,    0,    0,    1,              // 83: jmp forward_exception
    },
    FrameKind::kCompiled,
    {{24, 10, 1},
     {34, 10, 1},
     {41, 10, 1},
     {42, 1, 1},
     {47, 1, 1},
     {49, 1, 1},
     {59, 1, 1},
     {66, 1, 1},
     {71, 1, 1},
     {76, 1, 1},
     {82, 1, 1},
     {83, 1, 1}}};

// The caller has two words of arguments between its frame and the return address.
const Scenario kInterpreterReturns = {
    kInterpreter,
    0,
    {
        0x41, 0xc6, 0x87, 0xbe, 3, 0, 0, 0,           // mov byte [r15+0x3be], 0
        0x5f,                                         // 8: pop rdi
        0x49, 0x8b, 0xe3,                             // 9: mov rsp, r11
        0xff, 0xe7,                                   // 12: jmp rdi
        0x41, 0xc6, 0x87, 0xbe, 3, 0, 0, 0,           // 14: mov byte [r15+..], 0
        0x41, 0x5d,                                   // 22: pop r13
        0x48, 0x8b, 0xe3,                             // 24: mov rsp, rbx
        0x49, 0x3b, 0xa7, 0x20, 6, 0, 0,              // 27: cmp rsp, [r15+0x620]
        0x72, 0x0b,                                   // 34: jb +11
        0x49, 0xc7, 0x87, 0x20, 6, 0, 0, 0, 0, 0, 0,  // 36: mov qword [r15+..], 0
        0x41, 0xff, 0xe5,                             // 47: jmp r13
        0x58,                                         // 50: pop rax
        0x4c, 0x89, 0xec,                             // 51: mov rsp, r13
        0xff, 0xe0,                                   // 54: jmp rax
    },
    FrameKind::kStub,
    {
        {0, 3, 3, -1, REG_R11},
        {8, 3, 3, -1, REG_R11},
        {9, 2, 0, REG_RDI, REG_R11},
        {12, 0, 0, REG_RDI},
        {14, 3, 3, -1, REG_RBX},
        {22, 3, 3, -1, REG_RBX},
        {24, 2, 0, REG_R13, REG_RBX},
        {27, 0, 0, REG_R13},
        {36, 0, 0, REG_R13},
        {47, 0, 0, REG_R13},
        {50, 3, 3, -1, REG_R13},
        {51, 2, 0, REG_RAX, REG_R13},
    },
    true};

// A stub that has resolved a call.
const Scenario kResolvedCall = {
    kResolveStub,
    4,
    {
        0x55,                    // push rbp
        0x48, 0x83, 0xec, 0x10,  // sub rsp, 0x10
        0xe8, 0, 0, 0, 1,        // 5: call the JVM
        0x48, 0x83, 0xc4, 0x10,  // 10: add rsp, 0x10
        0x5d,                    // 14: pop rbp
        0xff, 0xe0,              // 15: jmp rax
    },
    FrameKind::kStub,
    {{0, 1, 1}, {1, 2, 1}, {5, 4, 1}, {10, 4, 1}, {14, 2, 1}, {15, 1, 1}},
    false,
    true};

class LeavingFramesTest : public WalkedStackTest {
 protected:
  static constexpr int kFrame = 32;  // index of the caller's frame
  static constexpr int kCallerWords = 8;

  void SetUp() override {
    const Code calls(16, 0xe8);  // a call may end after any byte
    heap_.Add(1, kNmethod, kCallerWords, kCaller, calls);
    heap_.Add(2, kStub, 4, 0, calls);
  }

  // With and without the results of earlier walks.
  void Check(const Scenario& scenario) {
    // The frame kept for a pc is distinguished from other code there by its method.
    const auto method = reinterpret_cast<uintptr_t>(&scenario) | 1;
    heap_.Add(0, scenario.blob, scenario.frame_size, method, scenario.code);
    if (scenario.interpreter) heap_.SetInterpreter(0);
    const auto memory = std::make_unique<LastWalk::Storage>();
    for (LastWalk::Storage* const kept :
         {static_cast<LastWalk::Storage*>(nullptr), memory.get(), memory.get()}) {
      for (const SetInterrupted& at : scenario.interrupts) {
        SCOPED_TRACE(testing::Message() << "pc " << at.offset);
        Stop(at, scenario.callee_in_rax);
        ExpectTrueChain(scenario.kind, kept);
      }
    }
  }

 private:
  void Stop(const SetInterrupted& at, bool callee_in_rax) {
    // Left by code that ran before at this depth: calls from a stub, frames that continue.
    for (uintptr_t& word : stack_) word = heap_.Code(2) + 16;
    const uintptr_t caller = heap_.Code(1) + 16;
    stack_[kFrame + kCallerWords - 1] = CallersCaller();
    for (auto& value : context_.uc_mcontext.gregs) {
      value = static_cast<greg_t>(Address(kFrame + 4));
    }
    Set(REG_RAX, callee_in_rax ? heap_.Code(1) : heap_.Code(2) + 16);
    Set(REG_RIP, heap_.Code(0) + at.offset);
    Set(REG_RSP, Address(kFrame - at.words));
    if (at.slot != 0) stack_[kFrame - at.slot] = caller;
    if (at.return_register >= 0) Set(at.return_register, caller);
    if (at.frame_register >= 0) Set(at.frame_register, Address(kFrame));
    if (at.slot_register >= 0) Set(at.slot_register, Address(kFrame - at.slot));
  }

  void ExpectTrueChain(FrameKind kind, LastWalk::Storage* memory) {
    const Chain chain = Walk(memory);
    ASSERT_GE(chain.pushed(), 3u);
    EXPECT_EQ(chain.frame(0).kind, kind);
    EXPECT_EQ(chain.frame(1).kind, FrameKind::kCompiled);
    EXPECT_EQ(chain.frame(1).value, kCaller);
    // Its frame was assumed to begin where it does.
    EXPECT_EQ(chain.frame(2).kind, FrameKind::kStub);
    EXPECT_EQ(chain.frame(2).value, CallersCaller());
  }

  // Not a place with calls on the stack.
  uintptr_t CallersCaller() const { return heap_.Code(2) + 12; }
};

TEST_F(LeavingFramesTest, FindsTheCallerOfAnAdapterThatSetsR13First) { Check(kAdapter25); }

TEST_F(LeavingFramesTest, FindsTheCallerOfAnAdapterThatPopsFirst) { Check(kAdapter17); }

TEST_F(LeavingFramesTest, FindsTheCallerOfANativeMethodThatReturns) { Check(kNativeReturn); }

TEST_F(LeavingFramesTest, FindsTheCallerOfAnInterpretedMethodThatReturns) {
  Check(kInterpreterReturns);
}

TEST_F(LeavingFramesTest, FindsTheCallerOfAResolvedCall) { Check(kResolvedCall); }

}  // namespace
}  // namespace jtrace::samples
