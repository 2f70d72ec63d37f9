#include "agent/recording/recording_state.h"

#include <set>
#include <utility>

#include "gtest/gtest.h"

namespace jtrace {
namespace {

using enum RecordingState;

constexpr RecordingState kAll[] = {kNew,    kPrepared, kRunning, kFailing,
                                   kFailed, kRemoving, kPaused};

TEST(RecordingStateTest, OnlyTheseStepsAreAllowed) {
  const std::set<std::pair<RecordingState, RecordingState>> allowed = {
      {kNew, kPrepared},    {kPrepared, kRunning}, {kPrepared, kFailing},
      {kRunning, kFailing}, {kFailing, kFailed},   {kRunning, kRemoving},
      {kFailed, kRemoving}, {kRemoving, kPaused},  {kPaused, kRemoving},
  };
  for (const RecordingState from : kAll) {
    for (const RecordingState to : kAll) {
      EXPECT_EQ(MayFollow(from, to), allowed.contains({from, to}))
          << static_cast<int>(from) << " to " << static_cast<int>(to);
    }
  }
}

TEST(RecordingStateTest, AFailureDuringAStopChangesNothing) {
  RecordingStep step;
  EXPECT_TRUE(step.To(kPrepared));
  EXPECT_TRUE(step.To(kRunning));
  EXPECT_TRUE(step.To(kRemoving));
  EXPECT_FALSE(step.To(kFailing));
  EXPECT_FALSE(step.To(kFailed));
  EXPECT_EQ(step.now(), kRemoving);
}

}  // namespace
}  // namespace jtrace
