// Our reader of unwind tables against libunwind, on stacks that were interrupted anywhere.
#include "agent/samples/walk/cfi.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "agent/samples/walk/object_lookup.h"
#include "agent/samples/walk/walker.h"
#include "native-tests/agent/samples/walk/stack_fixture.h"
#include "native-tests/support/sync_unwind.h"

namespace jtrace::samples {
namespace {

constexpr int kMaxFrames = 2000;
Frame frames[kMaxFrames];
int compared, different, failed;
std::string first_difference;

std::vector<uintptr_t> Walk(const ucontext_t* context, ChainEnd* end) {
  Chain chain(frames, kMaxFrames);
  WalkStack(nullptr, WalkedThread{0, {}, nullptr, nullptr}, context, chain);
  *end = chain.end();
  std::vector<uintptr_t> pcs;
  for (uint32_t i = 0; i < chain.pushed(); ++i) pcs.push_back(frames[i].value);
  return pcs;
}

// libunwind must not be used in a handler in production; here nothing calls the dynamic loader.
void Compare(int, siginfo_t*, void* context) {
  ChainEnd end;
  const auto ours = Walk(static_cast<const ucontext_t*>(context), &end);
  const auto theirs = testing::UnwindNative(*static_cast<const ucontext_t*>(context), kMaxFrames);
  if (!theirs.ok()) return;
  ++compared;
  if (end == ChainEnd::kFailed) ++failed;
  if (ours == *theirs) return;
  if (different++ == 0) {
    for (size_t i = 0; i < std::max(ours.size(), theirs->size()); ++i) {
      char line[100];
      snprintf(line, sizeof line, "%lx | %lx\n", i < ours.size() ? ours[i] : 0,
               i < theirs->size() ? (*theirs)[i] : 0);
      first_difference += line;
    }
  }
}

TEST(CfiTest, WalksLikeLibunwind) {
  compared = different = failed = 0;
  long seed = 0;
  volatile long sink = 0;
  Interrupted(Compare, [&] {
    sink = sink + Recurse(30, ++seed);
    return compared < 300;
  });
  EXPECT_EQ(different, 0) << first_difference;
  EXPECT_EQ(failed, 0);
}

// As the dynamic loader's lazy binding does: realigns the stack, and keeps the old rsp in rbx,
// which its callees save and use.
extern "C" void CallOverRbx(void (*callee)());
extern "C" const char call_over_rbx_return[];
asm(R"(
  .pushsection .text
  .globl CallOverRbx
  .type CallOverRbx, @function
CallOverRbx:
  .cfi_startproc
  pushq %rbx
  .cfi_def_cfa_offset 16
  .cfi_offset rbx, -16
  movq %rsp, %rbx
  .cfi_def_cfa_register rbx
  andq $-64, %rsp
  subq $192, %rsp
  call *%rdi
  .globl call_over_rbx_return
call_over_rbx_return:
  movq %rbx, %rsp
  .cfi_def_cfa_register rsp
  popq %rbx
  .cfi_def_cfa_offset 8
  ret
  .cfi_endproc
  .size CallOverRbx, . - CallOverRbx
  .popsection
)");

int over_rbx;

void CompareOverRbx(int signal, siginfo_t* info, void* context) {
  Compare(signal, info, context);
  ChainEnd end;
  for (const uintptr_t pc : Walk(static_cast<const ucontext_t*>(context), &end)) {
    if (pc == reinterpret_cast<uintptr_t>(call_over_rbx_return)) ++over_rbx;
  }
}

TEST(CfiTest, FollowsRbxThroughItsCallees) {
  compared = different = failed = over_rbx = 0;
  Interrupted(CompareOverRbx, [] {
    static long seed = 0;
    static volatile long sink = 0;
    CallOverRbx([] { sink = sink + Recurse(10, ++seed); });
    return over_rbx < 100;
  });
  EXPECT_EQ(different, 0) << first_difference;
  EXPECT_EQ(failed, 0);
}

// Samples in a handler of the program's own: the rows of the code that returns from it say that the
// kernel kept the interrupted registers. The second handler runs on a stack of its own.
TEST(CfiTest, LeavesHandlersOfTheProgram) {
  compared = different = failed = 0;
  static long seed = 0;
  static volatile long sink = 0;
  std::vector<char> room(1 << 20);
  const stack_t alternate = {room.data(), 0, room.size()}, none = {nullptr, SS_DISABLE, 0};
  sigaltstack(&alternate, nullptr);
  struct sigaction action {};
  action.sa_handler = [](int) { sink = sink + Recurse(10, ++seed); };
  sigaction(SIGUSR1, &action, nullptr);
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR2, &action, nullptr);
  Interrupted(Compare, [] {
    raise(SIGUSR1);
    raise(SIGUSR2);
    return compared < 300;
  });
  signal(SIGUSR1, SIG_DFL);
  signal(SIGUSR2, SIG_DFL);
  sigaltstack(&none, nullptr);
  EXPECT_EQ(different, 0) << first_difference;
  EXPECT_EQ(failed, 0);
}

TEST(CfiTest, FindsNoRowOutsideOfCode) {
  CfiLookup lookup;
  CfiRow row;
  EXPECT_FALSE(lookup.Find(16, &row));
  int local;
  EXPECT_FALSE(lookup.Find(reinterpret_cast<uintptr_t>(&local), &row));
}

TEST(CfiTest, RowOfAnEntryIsTheCallersPush) {
  CfiLookup lookup;
  CfiRow row;
  ASSERT_TRUE(lookup.Find(reinterpret_cast<uintptr_t>(&Recurse), &row));
  EXPECT_EQ(row.cfa, CfaRule::kRsp);
  EXPECT_EQ(row.cfa_offset, 8);
  EXPECT_EQ(row.rbp, RbpRule::kSame);
  EXPECT_FALSE(row.outermost);
  EXPECT_FALSE(row.signal_frame);
}

// All of the C library's code, in an order in which later lookups find what earlier ones kept, for
// the same pc or for the block that it is in.
TEST(CfiTest, KeptRowsAreThoseOfTheTables) {
  MappedDso libc;
  ASSERT_TRUE(FindMappedDso(reinterpret_cast<uintptr_t>(&qsort), &libc));
  ASSERT_NE(libc.eh_frame_hdr, 0u);
  const auto* const tables = reinterpret_cast<const std::byte*>(libc.eh_frame_hdr);
  CfiLookup lookup;
  uint64_t rows = 0, wrong = 0;
  for (const uintptr_t step : {uintptr_t{97}, uintptr_t{61}}) {
    for (uintptr_t pc = libc.begin; pc < libc.end; pc += step) {
      RowRange range;
      const CfiRow row = ReadCfiRow(tables, pc, &range);
      if (row.cfa == CfaRule::kNoRow) continue;
      ++rows;
      CfiRow kept, again;
      const bool found = lookup.Find(pc, &kept) && lookup.Find(pc, &again);
      const bool in_range =
          row.cfa == CfaRule::kUnsupported || (pc >= range.begin && pc < range.end);
      wrong += !found || !(kept == row) || !(again == row) || !in_range;
    }
  }
  EXPECT_GT(rows, 10'000u);
  EXPECT_EQ(wrong, 0u);
}

TEST(CfiTest, CacheMatchesTheTables) {
  const auto begin = reinterpret_cast<uintptr_t>(&Recurse);
  CfiLookup lookup;
  for (int round = 0; round < 2; ++round) {
    for (uintptr_t pc = begin; pc < begin + 64; ++pc) {
      CfiRow cached, again;
      ASSERT_TRUE(lookup.Find(pc, &cached));
      ASSERT_TRUE(CfiLookup().Find(pc, &again));
      EXPECT_EQ(cached.cfa, again.cfa);
      EXPECT_EQ(cached.cfa_offset, again.cfa_offset);
      EXPECT_EQ(cached.rbp_offset, again.rbp_offset);
      EXPECT_EQ(cached.rbx, again.rbx);
      EXPECT_EQ(cached.rbx_offset, again.rbx_offset);
    }
  }
}

}  // namespace
}  // namespace jtrace::samples
