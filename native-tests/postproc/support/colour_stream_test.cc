#include "postproc/support/colour_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "native-tests/support/run_post.h"

namespace jtrace::postproc {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ColourTest, SharesAreColouredByTheirSize) {
  EXPECT_EQ(Coloured("  45.4 %  x"), "  \x1b[31m45.4 %\x1b[0m  x");
  EXPECT_EQ(Coloured("1.0 %"), "\x1b[33m1.0 %\x1b[0m");
  EXPECT_EQ(Coloured("0.9 %"), "\x1b[2m0.9 %\x1b[0m");
}

TEST(ColourTest, HeadingsTreesAndWarningsAreColoured) {
  EXPECT_EQ(Coloured("── call tree ──"), "\x1b[1m── call tree ──\x1b[0m");
  EXPECT_EQ(Coloured("│  └─ a.B"), "\x1b[2m│\x1b[0m  \x1b[2m└─\x1b[0m a.B");
  EXPECT_EQ(Coloured("losses  warning: 3 x"), "losses  \x1b[33mwarning:\x1b[0m 3 x");
}

TEST(ColourTest, NamesAreLeftAlone) {
  for (const char* line : {"a.B.c1.0 %d(int)", "operator%", "a.error: b", "x-5.0 %"}) {
    EXPECT_EQ(Coloured(line), line);
  }
}

TEST(ColourTest, LinesStayWholeHoweverTheyArrive) {
  std::ostringstream out;
  ColourBuffer buffer(out);
  std::ostream in(&buffer);
  in << "5." << 0 << " %\n── h ──";
  EXPECT_EQ(out.str(), "\x1b[33m5.0 %\x1b[0m\n");
  in.flush();
  EXPECT_EQ(out.str(), "\x1b[33m5.0 %\x1b[0m\n\x1b[1m── h ──\x1b[0m");
}

constexpr char kTrace[] = "# jtrace-text 1 unit=us\n0\tmain\tsample\tA\tB\n1\tmain\tsample\tA\tC\n";

// CSV and files have no colours.
TEST(ColourTest, ColoursOnlyOnRequest) {
  const auto run = [](std::vector<std::string> args) {
    args.emplace_back("trace");
    return testing::RunPost(args, {{"trace", kTrace}}).out;
  };
  EXPECT_THAT(run({"--report=tree"}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(run({"--report=tree", "--color=always"}), HasSubstr("\x1b[31m100.0 %\x1b[0m"));
  EXPECT_THAT(run({"--report=tree", "--color=always", "--format=csv"}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(run({"--report=tree", "--color=always", "--format=json"}), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace jtrace::postproc
