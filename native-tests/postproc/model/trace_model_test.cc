#include "postproc/model/trace_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jtrace::postproc {
namespace {

using ::testing::ElementsAre;

// A text trace names its hooks in comment lines, with patterns, and in every row of their calls.
TEST(TraceInfoTest, HooksAreListedOnceInTheOrderOfTheirFirstMention) {
  constexpr FrameId kMalloc{1};
  constexpr FrameId kFree{2};
  TraceInfo trace;
  trace.AddHook({kMalloc, HookKind::kCount, "libc.so.6!mal*"});
  trace.AddHook({kFree, HookKind::kCount, ""});
  for (int i = 0; i < 3; ++i) {
    trace.AddHook({kMalloc, HookKind::kCount, ""});
    trace.AddHook({kFree, HookKind::kCount, ""});
    trace.AddHook({kMalloc, HookKind::kTime, ""});
  }
  trace.AddHook({kMalloc, HookKind::kCount, "libc.so.6!mal*"});
  trace.AddHook({kMalloc, HookKind::kCount, "libc.so.6!malloc"});
  trace.AddHook({kFree, HookKind::kCount, "libc.so.6!free"});
  EXPECT_THAT(trace.hooks, ElementsAre(HookInfo{kMalloc, HookKind::kCount, "libc.so.6!mal*"},
                                       HookInfo{kFree, HookKind::kCount, ""},
                                       HookInfo{kMalloc, HookKind::kTime, ""},
                                       HookInfo{kMalloc, HookKind::kCount, "libc.so.6!malloc"},
                                       HookInfo{kFree, HookKind::kCount, "libc.so.6!free"}));
}

}  // namespace
}  // namespace jtrace::postproc
