// When data is made anew, and what is kept.
#include "postproc/live/live_data.h"

#include <signal.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>

#include "gtest/gtest.h"

namespace jtrace::live {
namespace {

using std::chrono::milliseconds;
using Phase = LiveState::Phase;

int Say(int fd, std::string_view text, int code) {
  return write(fd, text.data(), text.size()) < 0 ? 9 : code;
}

// A recording whose flush and report are as the test says.
struct Recording {
  std::string flushed = "/a.bin\n";
  std::string refused;  // what flush says if it fails
  int refusal = 2;      // its exit code then
  std::string page = R"(id="profile">data<)";
  std::string bad = "jtrace-post: bad\n";  // what report says if there is no page
  int signal = 0;                          // what ends report
  std::string opened;
  int reports = 0;

  LiveSource Source() {
    return {.flush =
                [this] {
                  return refused.empty() ? Say(1, flushed, 0)
                                         : Say(2, "jtrace: " + refused + "\n", refusal);
                },
            .open =
                [this](std::string_view answer) {
                  opened = answer;
                  ++reports;
                  return absl::OkStatus();
                },
            .report =
                [this] {
                  if (signal != 0) raise(signal);
                  return page.empty() ? Say(2, bad, 1) : Say(1, page, 0);
                }};
  }
};

class LiveDataTest : public ::testing::Test {
 protected:
  // Runs the context until `is_done`. A context without work stops; that is a failure here.
  template <typename Done>
  void Until(Done is_done) {
    context_.restart();
    while (!is_done()) ASSERT_EQ(context_.run_one(), 1u);
  }
  void Refresh() {
    bool is_done = false;
    data_.WhenRefreshed([&] { is_done = true; });
    Until([&] { return is_done; });
  }

  boost::asio::io_context context_;
  Recording recording_;
  LiveData data_{context_, recording_.Source()};
};

TEST(RestAfterTest, AMinuteAtMost) {
  EXPECT_EQ(RestAfter(milliseconds(120'000)), milliseconds(60'000));
}

TEST(RestAfterTest, AtMostAFifthOfTheTime) {
  EXPECT_EQ(RestAfter(milliseconds(0)), milliseconds(1000));
  EXPECT_EQ(RestAfter(milliseconds(250)), milliseconds(1000));
  EXPECT_EQ(RestAfter(milliseconds(251)), milliseconds(1004));
  EXPECT_EQ(RestAfter(milliseconds(5000)), milliseconds(20000));
}

TEST_F(LiveDataTest, AReportThatFailsSaysWhyLast) {
  recording_.page.clear();
  recording_.bad = "jtrace-post: warning: the trace ends early\njtrace-post: out of memory\n";
  Refresh();
  EXPECT_EQ(data_.state().message, "out of memory");
}

TEST_F(LiveDataTest, AReportThatASignalEndsIsSaid) {
  recording_.signal = SIGKILL;
  Refresh();
  EXPECT_EQ(data_.state().message.find("jtrace-post was ended by signal 9"), 0);
}

TEST_F(LiveDataTest, ReadsWhatTheRecordingHas) {
  Refresh();
  EXPECT_EQ(recording_.opened, "/a.bin\n");
  EXPECT_EQ(data_.state().phase, Phase::kLive);
  EXPECT_EQ(data_.state().serial, 1u);
  EXPECT_EQ(data_.state().data, "data");
}

// Nobody looks: nothing is read.
TEST_F(LiveDataTest, NothingIsReadWithoutARequest) {
  EXPECT_EQ(context_.poll(), 0u);
  Refresh();
  EXPECT_EQ(context_.poll(), 0u);
  EXPECT_EQ(recording_.reports, 1);
}

TEST_F(LiveDataTest, OneRefreshIsForAllThatWait) {
  int answers = 0;
  for (int i = 0; i < 5; ++i) data_.WhenRefreshed([&] { ++answers; });
  Until([&] { return answers == 5; });
  EXPECT_EQ(data_.state().serial, 1u);
}

// What was made is fresh during the rest after it.
TEST_F(LiveDataTest, DataIsFreshForASecond) {
  std::chrono::steady_clock::time_point now;
  LiveData data(context_, recording_.Source(), [&] { return now; });
  EXPECT_FALSE(data.IsFresh());
  bool is_done = false;
  data.WhenRefreshed([&] { is_done = true; });
  Until([&] { return is_done; });
  now += milliseconds(999);
  EXPECT_TRUE(data.IsFresh());
  now += milliseconds(1);
  EXPECT_FALSE(data.IsFresh());
}

// Who asks while the last refresh runs gets the state of the data that it gets.
TEST_F(LiveDataTest, TheEndIsSaidWithTheLastData) {
  Refresh();
  recording_.page = R"(id="profile">whole<)";
  data_.JvmEnded();
  EXPECT_EQ(data_.state().phase, Phase::kLive);
  Refresh();
  EXPECT_EQ(data_.state().phase, Phase::kEnded);
  EXPECT_EQ(data_.state().data, "whole");
  EXPECT_TRUE(data_.IsFresh());
}

// Words decide nothing: messages may change, and names of a program be anything.
TEST_F(LiveDataTest, WhetherThereIsARecordingIsNotReadFromTheMessage) {
  recording_.refused = "no recording runs";
  Refresh();
  EXPECT_TRUE(data_.state().has_recording);
  recording_.refused = "anything";
  recording_.refusal = kNoRecording;
  Refresh();
  EXPECT_FALSE(data_.state().has_recording);
  EXPECT_EQ(data_.state().message, "anything");
}

// The recording ended: what it wrote last is read once, and kept.
TEST_F(LiveDataTest, AStopKeepsTheLastData) {
  Refresh();
  recording_.refused = "no recording runs";
  recording_.page = R"(id="profile">whole<)";
  Refresh();
  EXPECT_EQ(data_.state().phase, Phase::kStopped);
  EXPECT_EQ(data_.state().message, "no recording runs");
  EXPECT_EQ(data_.state().data, "whole");
  EXPECT_EQ(data_.state().serial, 2u);
  Refresh();
  EXPECT_EQ(data_.state().serial, 2u);
  recording_.refused.clear();
  Refresh();
  EXPECT_EQ(data_.state().phase, Phase::kLive);
  EXPECT_EQ(data_.state().message, "");
  EXPECT_EQ(data_.state().serial, 3u);
}

TEST_F(LiveDataTest, TheEndOfTheJvmReadsTheWholeTrace) {
  Refresh();
  recording_.refused = "gone";
  recording_.page = R"(id="profile">whole<)";
  data_.JvmEnded();
  Refresh();
  EXPECT_EQ(data_.state().phase, Phase::kEnded);
  EXPECT_EQ(data_.state().message, "");
  EXPECT_EQ(data_.state().data, "whole");
  const uint64_t serial = data_.state().serial;
  Refresh();
  EXPECT_EQ(data_.state().serial, serial);
}

// While a refresh runs.
TEST_F(LiveDataTest, TheEndOfTheJvmMayComeAtAnyTime) {
  Refresh();
  bool is_done = false;
  data_.WhenRefreshed([&] { is_done = true; });
  Until([&] { return recording_.reports == 2; });
  recording_.page = R"(id="profile">whole<)";
  data_.JvmEnded();
  Until([&] { return is_done; });
  EXPECT_EQ(data_.state().phase, Phase::kEnded);
  EXPECT_EQ(data_.state().data, "whole");
}

TEST_F(LiveDataTest, AFailureKeepsTheLastData) {
  Refresh();
  recording_.page.clear();
  Refresh();
  EXPECT_EQ(data_.state().message, "bad");
  EXPECT_EQ(data_.state().data, "data");
  EXPECT_EQ(data_.state().serial, 1u);
}

TEST_F(LiveDataTest, NothingRecordedIsAMessage) {
  recording_.refused = "no recording runs";
  Refresh();
  EXPECT_EQ(data_.state().phase, Phase::kStopped);
  EXPECT_EQ(data_.state().serial, 0u);
  data_.JvmEnded();
  Refresh();
  EXPECT_EQ(data_.state().phase, Phase::kEnded);
}

}  // namespace
}  // namespace jtrace::live
