// Files and peers (S3.23), worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "native-tests/support/csv.h"
#include "native-tests/support/run_post.h"

namespace jtrace {
namespace {

using testing::CsvRow;
using ::testing::ElementsAre;
using testing::Rows;

// Two threads read /a at the same time; one read finds nothing. A begin without an end is not a
// call, nor is an end without a begin.
constexpr char kTrace[] =
    "# jtrace-text 1 unit=us\n"
    "0\tone\tread-end\tvalue=77\n"
    "1\tone\tread-begin\t/a\n"
    "2\ttwo\tread-begin\t/a\n"
    "4\tone\tread-end\tvalue=10\n"
    "7\ttwo\tread-end\tvalue=20\n"
    "8\ttwo\tread-begin\t/a\n"
    "9\ttwo\tread-end\tvalue=-1\n"
    "10\tone\tconnect-begin\n"
    "30\tone\tconnect-end\t127.0.0.1:80\n"
    "31\tone\twrite-begin\t127.0.0.1:80\n"
    "33\tone\twrite-end\tvalue=5\n"
    "34\tone\twrite-begin\t127.0.0.1:80\n"
    "35\tone\tread-end\tvalue=5\n";

TEST(IoReportTest, HasARowForEachKindAndName) {
  EXPECT_THAT(
      Rows(kTrace, "io", {"kind", "calls", "failed", "bytes", "time", "longest", "threads", "on"}),
      ElementsAre(CsvRow{"connect", "1", "0", "0", "20", "20", "1", "127.0.0.1:80"},
                  CsvRow{"read", "3", "1", "30", "9", "5", "2", "/a"},
                  CsvRow{"write", "1", "0", "5", "2", "2", "1", "127.0.0.1:80"}));
}

}  // namespace
}  // namespace jtrace
