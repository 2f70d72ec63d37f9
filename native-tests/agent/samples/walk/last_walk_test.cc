// Walks that reuse the last one against full walks, on stacks that change all the time.
#include "agent/samples/walk/last_walk.h"

#include <gtest/gtest.h>

#include <memory>

#include "agent/samples/walk/walker.h"
#include "native-tests/agent/samples/walk/stack_fixture.h"

namespace jtrace::samples {
namespace {

constexpr uint32_t kFrames = 4096;
Frame frames[kFrames], full_frames[kFrames];
auto storage = std::make_unique<LastWalk::Storage>();
uint32_t remembered;
int compared, different, reused;

void Compare(int, siginfo_t*, void* context) {
  const auto* const at = static_cast<const ucontext_t*>(context);
  Chain chain(frames, kFrames), full(full_frames, kFrames);
  WalkStack(nullptr, WalkedThread{0, {}, storage.get(), &remembered}, at, chain);
  WalkStack(nullptr, WalkedThread{0, {}, nullptr, nullptr}, at, full);
  ++compared;
  // 0 is a chain that dropped frames: no stack here is so deep.
  if (chain.Fingerprint() != full.Fingerprint() || full.Fingerprint() == 0) ++different;
  if (chain.pushed() < full.pushed()) ++reused;
}

TEST(WalkMemoryTest, RememberedChainsEqualFullWalks) {
  long seed = 0;
  volatile long sink = 0;
  Interrupted(Compare, [&] {
    sink = sink + Recurse(40, ++seed % 5);
    return compared < 300;
  });
  EXPECT_EQ(different, 0);
  // All samples share the frames of the test framework. Walks that needed rbx are not remembered:
  // how many of them there are depends on where the timer hits.
  EXPECT_GT(reused, compared / 10);
}

// What a handler of the program interrupted has its registers in no slot that can be read again.
TEST(WalkMemoryTest, HandlersOfTheProgramAreWalkedInFull) {
  compared = different = 0;
  static long seed = 0;
  static volatile long sink = 0;
  signal(SIGUSR1, [](int) { sink = sink + Recurse(5, ++seed % 5); });
  Interrupted(Compare, [] {
    raise(SIGUSR1);
    sink = sink + Recurse(5, seed % 5);
    return compared < 300;
  });
  signal(SIGUSR1, SIG_DFL);
  EXPECT_EQ(different, 0);
}

}  // namespace
}  // namespace jtrace::samples
