// Parts of a stack against the whole of it, taken at the same instant.
#include <gtest/gtest.h>

#include "agent/jvm/hotspot/address_set.h"
#include "agent/samples/walk/walker.h"
#include "native-tests/agent/samples/walk/stack_fixture.h"

namespace jtrace::samples {
namespace {

constexpr int kMaxFrames = 2000;
Frame whole_frames[kMaxFrames], part_frames[kMaxFrames];
int compared, different;
const signal_safe::AddressTable* application;

bool SameFrame(const Frame& a, const Frame& b) {
  return a.value == b.value && a.kind == b.kind && a.bci == b.bci;
}

void Compare(int, siginfo_t*, void* context) {
  const auto* const at = static_cast<const ucontext_t*>(context);
  const WalkedThread thread{0, {}, nullptr, nullptr};
  Chain whole(whole_frames, kMaxFrames);
  WalkStack(nullptr, thread, at, whole);
  Chain pc(part_frames, kMaxFrames);
  WalkPc(nullptr, at, pc);
  bool same = pc.pushed() == 1 && SameFrame(part_frames[0], whole_frames[0]);
  Chain top(part_frames, kMaxFrames);
  WalkTopFrame(nullptr, thread, at, top);
  same &= top.pushed() == 1 && SameFrame(part_frames[0], whole_frames[0]) &&
          top.end() == ChainEnd::kRoot;
  // No frame of this stack is Java's: the walk goes to its root and finds none.
  Chain app(part_frames, kMaxFrames);
  WalkToApplication(nullptr, thread, at, *application, app);
  same &= whole.end() == ChainEnd::kFailed || app.pushed() == 0;
  ++compared;
  if (!same) ++different;
}

TEST(WalkPartsTest, AreTheFirstFramesOfTheWholeStack) {
  compared = different = 0;
  jvm::AddressSet methods;
  methods.Add(0x1000);
  application = methods.published()->load();
  long seed = 0;
  volatile long sink = 0;
  Interrupted(Compare, [&] {
    sink = sink + Recurse(30, ++seed);
    return compared < 300;
  });
  EXPECT_EQ(different, 0);
}

}  // namespace
}  // namespace jtrace::samples
