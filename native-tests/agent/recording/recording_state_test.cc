#include "agent/recording/recording_state.h"

#include <set>
#include <utility>

#include "gtest/gtest.h"

namespace jtrace {
namespace {

using enum RecordingState;

constexpr RecordingState kAll[] = {kNew,    kPrepared, kRunning, kStopping, kRemoving,
                                   kPaused, kFailing,  kFailed,  kEnded};

TEST(RecordingStateTest, OnlyTheseStepsAreAllowed) {
  std::set<std::pair<RecordingState, RecordingState>> allowed = {
      {kNew, kPrepared},    {kPrepared, kRunning}, {kPrepared, kFailing},  {kRunning, kFailing},
      {kFailing, kFailed},  {kRunning, kStopping}, {kStopping, kRemoving}, {kFailed, kRemoving},
      {kRemoving, kPaused}, {kPaused, kRemoving},
  };
  for (const RecordingState from : kAll) {
    if (from != kEnded) allowed.insert({from, kEnded});
  }
  for (const RecordingState from : kAll) {
    for (const RecordingState to : kAll) {
      EXPECT_EQ(MayFollow(from, to), allowed.contains({from, to}))
          << static_cast<int>(from) << " to " << static_cast<int>(to);
    }
  }
}

TEST(RecordingStateTest, AFailureDuringAStopChangesNothing) {
  RecordingStateMachine state;
  EXPECT_TRUE(state.TryEnter(kPrepared));
  EXPECT_TRUE(state.TryEnter(kRunning));
  EXPECT_TRUE(state.TryEnter(kStopping));
  EXPECT_FALSE(state.TryEnter(kFailing));
  EXPECT_FALSE(state.TryEnter(kFailed));
  EXPECT_EQ(state.now(), kStopping);
}

TEST(RecordingStateTest, NothingFollowsTheEnd) {
  RecordingStateMachine state;
  EXPECT_TRUE(state.TryEnter(kEnded));
  for (const RecordingState next : kAll) EXPECT_FALSE(state.TryEnter(next));
}

}  // namespace
}  // namespace jtrace
