// The table of routines by thread (S3.11), worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "native-tests/support/csv.h"
#include "native-tests/support/run_post.h"

namespace jtrace {
namespace {

using testing::CsvRow;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Rows;
using testing::RunPost;

// In `one`, run calls itself and go once; in `two`, go runs alone. Samples: three in `one`, in a
// native function below go once; two in `two`.
constexpr char kTrace[] =
    "# jtrace-text 1 unit=us\n"
    "0\tone\tenter.i\ta.A.run()\n"
    "2\tone\tenter.j\ta.A.run()\n"
    "3\tone\tsample\ta.A.run()\ta.A.run()\n"
    "5\tone\tenter.j\ta.A.go()\n"
    "6\tone\tsample*2\ta.A.run()\ta.A.run()\ta.A.go()\tN:libc.so.6!write\n"
    "9\tone\texit.j\ta.A.go()\n"
    "9\tone\texit.j\ta.A.run()\n"
    "10\tone\texit.i\ta.A.run()\n"
    "0\ttwo\tenter.i\ta.A.go()\n"
    "1\ttwo\tsample*5\ta.A.go()\n"
    "7\ttwo\texit.i\ta.A.go()\n";

TEST(ByThreadReportTest, HasARowForEachRoutineOfEachThread) {
  EXPECT_THAT(
      Rows(kTrace, "bythread",
           {"thread", "name", "calls", "base", "cum", "cum2", "elapsed", "base_ticks", "cum_ticks",
            "cum2_ticks", "samples", "calls_jitted", "min_base", "max_base", "kind"}),
      ElementsAre(CsvRow{"two", "a.A.go()", "1", "7", "7", "7", "7", "5", "5", "5", "0", "0", "7",
                         "7", "method"},
                  CsvRow{"one", "write", "0", "0", "0", "0", "0", "2", "2", "2", "1", "0", "0", "0",
                         "method"},
                  CsvRow{"one", "a.A.run()", "2", "6", "10", "17", "10", "1", "3", "6", "0", "1",
                         "3", "3", "method"},
                  CsvRow{"one", "a.A.go()", "1", "4", "4", "4", "4", "0", "2", "2", "0", "1", "4",
                         "4", "method"},
                  CsvRow{"one", "one", "1", "0", "10", "10", "10", "0", "3", "3", "0", "0", "0",
                         "0", "thread"},
                  CsvRow{"two", "two", "1", "0", "7", "7", "7", "0", "5", "5", "0", "0", "0", "0",
                         "thread"}));
}

TEST(ByThreadReportTest, HeaderIsAContract) {
  const std::string csv = testing::ReportCsv(kTrace, {"--report=bythread"});
  EXPECT_EQ(csv.substr(0, csv.find('\n')),
            "thread,name,calls,base,cum,cum2,elapsed,base_ticks,cum_ticks,cum2_ticks,samples,"
            "calls_jitted,min_base,max_base,kind");
}

TEST(ByThreadReportTest, TextHonoursTopSortAndFilter) {
  const auto text = [](std::vector<std::string> args) {
    args.insert(args.begin(), "--report=bythread");
    args.emplace_back("trace");
    return RunPost(args, {{"trace", kTrace}}).out;
  };
  EXPECT_THAT(text({"--top=1"}), HasSubstr("a.A.go()"));
  EXPECT_EQ(text({"--top=1"}).find("a.A.run()"), std::string::npos);
  EXPECT_EQ(text({"--filter=50"}).find("one"), std::string::npos);
  EXPECT_LT(text({"--sort=calls"}).find("a.A.run()"), text({"--sort=calls"}).find("two"));
}

}  // namespace
}  // namespace jtrace
