// Segments of code (S3.28), worked out by hand: from records, and from counts of those without one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "native-tests/support/csv.h"
#include "native-tests/support/run_post.h"
#include "native-tests/support/trace_builder.h"

namespace jtrace {
namespace {

using testing::CsvRow;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ReportCsv;
using testing::Rows;
using testing::RunPost;
using testing::TraceBuilder;

const CsvRow kColumns = {"name", "count", "total_ns", "min_ns", "max_ns", "open"};

// "order" runs in two threads at once, and once inside of itself; its begin in "two" is before the
// file. "load" never ends. Of "pay" most have no record.
constexpr char kTrace[] =
    "# jtrace-text 1 unit=us\n"
    "0\tone\tsegment-begin\torder\n"
    "1\ttwo\tsegment-end\torder\tvalue=40\n"
    "2\tone\tsegment-begin\torder\n"
    "3\tone\tsegment-begin\tload\n"
    "5\tone\tsegment-end\torder\n"
    "5\ttwo\tsegment-end\tpay\n"
    "9\tone\tsegment-end\torder\tvalue=9\n"
    "9\tone\tsegment-begin\tpay\n"
    "9\tone\tsegment-end\tpay\n"
    "9\t\tsegments\tpay\tcount=7\ttotal=70\tmin=4\tmax=20\topen=2\n";

TEST(SegmentsReportTest, HasARowForEachName) {
  EXPECT_THAT(Rows(kTrace, "segments", kColumns),
              ElementsAre(CsvRow{"pay", "8", "70000", "0", "20000", "2"},
                          CsvRow{"order", "3", "52000", "3000", "40000", "0"},
                          CsvRow{"load", "0", "", "", "", "1"}));
}

TEST(SegmentsReportTest, OfAThreadThoseWithARecord) {
  EXPECT_THAT(
      testing::ParseCsv(ReportCsv(kTrace, {"--report=segments", "--thread=one"}))
          .Project({"name", "count", "total_ns"}),
      ElementsAre(CsvRow{"order", "2", "12000"}, CsvRow{"load", "0", ""}, CsvRow{"pay", "1", "0"}));
  const std::string labelled = std::string(kTrace) + "9\tone\tlabels\ta=b\n9\tone\tsample\tA\n";
  EXPECT_THAT(Rows(labelled, "segments", kColumns).size(), 3u);
  EXPECT_THAT(RunPost({"--report=segments", "--with-label=a=b", "t"}, {{"t", labelled}}).out,
              HasSubstr("nothing to show"));
}

TEST(SegmentsReportTest, TextShowsTimesWithUnits) {
  const auto run = RunPost({"--report=segments", "--top=1", "trace"}, {{"trace", kTrace}});
  EXPECT_THAT(run.out, HasSubstr("70.0 µs"));
  EXPECT_THAT(run.out, HasSubstr("pay\n"));
  EXPECT_THAT(RunPost({"--report=segments", "trace"}, {{"trace", "# jtrace-text 1 unit=us\n"}}).out,
              HasSubstr("nothing to show: no segments; the program names them: JTrace.segment"));
  EXPECT_EQ(RunPost({"--report=segments", "--root=A", "trace"}, {{"trace", kTrace}}).exit_code, 1);
}

std::string BinaryTrace() {
  TraceBuilder builder;
  const uint32_t main = builder.Thread("main", 7);
  const uint32_t name = builder.String("a\tb");
  const auto event = [&](uint64_t time, uint32_t minor, int64_t value) {
    builder.Event(time, main, format::kSegment, minor, value).set_text(name);
  };
  const auto total = [&](uint64_t count, uint64_t total_ns, uint64_t open) {
    proto::SegmentTotal& it = *builder.chunk().add_segment_total();
    it.set_name(name);
    it.set_count(count);
    it.set_total_ns(total_ns);
    it.set_min_ns(2);
    it.set_max_ns(5);
    it.set_open(open);
  };
  event(10, format::kSegmentPair, 0);
  event(17, format::kSegmentPair | format::kEnd, 7);
  total(1, 5, 3);
  builder.Seal();
  total(3, 11, 1);  // so far
  return builder.Finish();
}

TEST(SegmentsReportTest, BinaryTracesAndTheirDumpsHaveTheSameSegments) {
  const std::string trace = BinaryTrace();
  const std::vector<CsvRow> rows = Rows(trace, "segments", kColumns);
  EXPECT_THAT(rows, ElementsAre(CsvRow{"a\tb", "4", "18", "2", "7", "1"}));
  const auto dump = RunPost({"--report=dump", "trace"}, {{"trace", trace}});
  EXPECT_THAT(dump.out, HasSubstr("10\tmain\tsegment-begin\ta\\tb\n"));
  EXPECT_THAT(dump.out, HasSubstr("17\tmain\tsegment-end\ta\\tb\tvalue=7\n"));
  EXPECT_EQ(Rows(dump.out, "segments", kColumns), rows);
  EXPECT_EQ(RunPost({"--report=dump", "trace"}, {{"trace", dump.out}}).out, dump.out);
}

}  // namespace
}  // namespace jtrace
