// Random traces: what the text of a tree shows and what it leaves out is the whole tree.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "native-tests/support/csv.h"
#include "native-tests/support/random_trace.h"
#include "native-tests/support/run_post.h"
#include "postproc/support/strings.h"

namespace jtrace {
namespace {

constexpr uint64_t kTraces = 400;

// The sum of the text's column "self"; the trace has ticks without a unit, so that it is a number.
int64_t SelfOf(const std::string& text) {
  constexpr size_t kBegin = 18, kWidth = 10;
  int64_t sum = 0;
  std::string_view header = std::string_view(text).substr(0, text.find('\n'));
  EXPECT_EQ(header.substr(kBegin, kWidth), "      self") << header;
  for (const std::string_view line : postproc::Split(std::string_view(text), '\n')) {
    if (line.size() < kBegin + kWidth || line == header) continue;
    std::string digits(line.substr(kBegin, kWidth));
    std::erase_if(digits, [](char c) { return c == ' ' || c == ','; });
    int64_t value = 0;
    if (postproc::ParseInteger(digits, value)) sum += value;
  }
  return sum;
}

int64_t SumOf(const std::string& trace, const std::string& column,
              const std::vector<std::string>& options = {}) {
  std::vector<std::string> args = {"--report=tree"};
  args.insert(args.end(), options.begin(), options.end());
  int64_t sum = 0;
  for (const auto& row :
       testing::ParseCsv(testing::ReportCsv(trace, args)).Project({column, "origin"})) {
    int64_t value = 0;
    EXPECT_TRUE(postproc::ParseInteger(row[0], value));
    if (row[1] != "thread" || column != "calls") sum += value;
  }
  return sum;
}

TEST(FoldPropertyTest, ShownAndLeftOutAreTheWhole) {
  int with_ticks = 0;
  for (uint64_t seed = 0; seed < kTraces; ++seed) {
    const std::string trace = testing::RandomTextTrace(seed);
    const int64_t ticks = SumOf(trace, "base_ticks");
    if (ticks == 0) continue;
    ++with_ticks;
    for (const std::vector<std::string>& options :
         std::vector<std::vector<std::string>>{{},
                                               {"--fold=none"},
                                               {"--top=1"},
                                               {"--top=3"},
                                               {"--top=3", "--fold=none"},
                                               {"--top=2", "--sort=total"},
                                               {"--fold=jdk,native,jvm,kernel"},
                                               {"--top=1000"}}) {
      std::vector<std::string> args = {"--report=tree", "--metric=ticks", "--width=0",
                                       "--aggregate=thread", "t"};
      args.insert(args.begin(), options.begin(), options.end());
      const testing::RunResult run = testing::RunPost(args, {{"t", trace}});
      ASSERT_EQ(run.exit_code, 0) << run.err;
      ASSERT_EQ(SelfOf(run.out), ticks) << options.empty() << trace << run.out;
    }
  }
  EXPECT_GT(with_ticks, 100);
}

// Ticks, times and calls of what events counted; the folded frames have no calls.
TEST(FoldPropertyTest, FoldedKindsChangeNoSum) {
  for (uint64_t seed = 0; seed < kTraces; ++seed) {
    const std::string trace = testing::RandomTextTrace(seed);
    for (const std::string column : {"base_ticks", "base", "off", "calls"}) {
      ASSERT_EQ(SumOf(trace, column, {"--fold=library,jdk,native,jvm,kernel"}),
                SumOf(trace, column))
          << column << '\n'
          << trace;
    }
  }
}

}  // namespace
}  // namespace jtrace
