// What `jtrace start` asks for, and how it shows progress.
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "postproc/cli/progress_view.h"
#include "postproc/cli/start_options.h"

namespace jtrace::control {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<std::string> Started(std::vector<std::string_view> arguments) {
  arguments.insert(arguments.begin(), {"start", "4711"});
  const absl::StatusOr<CommandLine> line = ParseCommandLine(arguments);
  if (!line.ok()) return line.status();
  return StartOptions(*line);
}

TEST(StartOptionsTest, SamplesUnlessProbesAreAskedFor) {
  EXPECT_EQ(*Started({}), "mode=samples,include=own");
  EXPECT_EQ(*Started({"out=/tmp/a.bin", "-d", "30"}),
            "mode=samples,include=own,out=/tmp/a.bin,duration=30");
  EXPECT_EQ(*Started({"--probes"}), "mode=merged,include=own");
  EXPECT_EQ(*Started({"--all"}), "mode=merged");
  EXPECT_EQ(*Started({"--probes", "--all", "clock=tsc"}), "mode=merged,clock=tsc");
  EXPECT_EQ(*Started({"include=a.**", "--probes"}), "mode=merged,include=own,include=a.**");
}

// The agent takes the last mode= that it reads.
TEST(StartOptionsTest, ANamedModeComesAfterTheDefault) {
  EXPECT_EQ(*Started({"mode=events"}), "mode=samples,include=own,mode=events");
  EXPECT_EQ(*Started({"--probes", "mode=events"}), "mode=merged,include=own,mode=events");
  EXPECT_EQ(*Started({"config=/etc/jtrace"}), "mode=samples,include=own,config=/etc/jtrace");
}

TEST(StartOptionsTest, OptionsOfProbesNeedProbes) {
  for (const std::string_view option :
       {"record=flat", "clock=tsc", "probebudget=50%", "sites=on", "out=a.bin,blocks=on"}) {
    EXPECT_THAT(std::string(Started({option}).status().message()), HasSubstr("add --probes"))
        << option;
    EXPECT_TRUE(Started({option, "--probes"}).ok()) << option;
    EXPECT_TRUE(Started({option, "mode=events"}).ok()) << option;
    EXPECT_TRUE(Started({option, "config=/etc/jtrace"}).ok()) << option;
  }
  for (const auto& contradiction : std::vector<std::vector<std::string_view>>{
           {"--probes", "mode=samples"}, {"--all", "mode=samples"}, {"--all", "include=a.**"}}) {
    EXPECT_THAT(std::string(Started(contradiction).status().message()), HasSubstr("contradict"));
  }
}

TEST(ProgressViewTest, ABarOfTheNumbersInFront) {
  EXPECT_EQ(WithBar("1/4 a quarter"), "[#####...............]  25 %  a quarter");
  EXPECT_EQ(WithBar("0/9 none"), "[....................]   0 %  none");
  EXPECT_EQ(WithBar("9/9 all"), "[####################] 100 %  all");
}

// An agent may send anything.
TEST(ProgressViewTest, OtherTextStaysAsItIs) {
  for (const std::string_view text :
       {"attaching", "", "a/b c", "1/", "1/2", "/ ", "-1/2 x", "99999999999999999999/1 x"}) {
    EXPECT_EQ(WithBar(text), text);
  }
  EXPECT_EQ(WithBar("3/0 x"), "[####################] 100 %  x");
  EXPECT_EQ(WithBar("7/2 x"), "[####################] 100 %  x");
}

TEST(ProgressViewTest, ALineNowAndThenWithoutATerminal) {
  std::chrono::steady_clock::time_point now;
  std::ostringstream out;
  ProgressView view(out, /*is_terminal=*/false, [&] { return now; });
  view.Show("1/10 one");
  EXPECT_EQ(out.str(), "");
  now += ProgressView::kBetweenLines;
  view.Show("2/10 two");
  view.Show("3/10 three");
  now += ProgressView::kBetweenLines - std::chrono::milliseconds(1);
  view.Show("4/10 four");
  now += std::chrono::milliseconds(1);
  view.Show("5/10 five");
  view.End();
  EXPECT_EQ(out.str(), "jtrace: two\njtrace: five\n");
}

TEST(ProgressViewTest, ATerminalHasOneLineThatIsErased) {
  std::ostringstream out;
  ProgressView view(out, /*is_terminal=*/true);
  view.Show("1/2 half");
  view.End();
  view.End();
  EXPECT_EQ(out.str(), "\r\x1b[K[##########..........]  50 %  half\r\x1b[K");
}

}  // namespace
}  // namespace jtrace::control
