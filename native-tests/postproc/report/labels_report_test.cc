// Labels of threads, worked out by hand: read from binary and text traces, as a report, as a
// filter.
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
using ::testing::Not;
using testing::ParseCsv;
using testing::ReportCsv;
using testing::Rows;
using testing::RunPost;
using testing::TraceBuilder;

const CsvRow kColumns = {"key", "value", "samples", "ticks", "percent", "time", "threads"};

// Of 20 ticks 10 are of acme, 4 of these are queries; 2 are of other queries.
constexpr char kTrace[] =
    "# jtrace-text 1 unit=us\n"
    "#@\tsession\tinterval_ns\t1000000\n"
    "0\tone\tenter\tA.run()\n"
    "1\tone\tsample*3\tA.run()\tB.idle()\n"
    "2\tone\tlabels\ttenant=acme\n"
    "2\tone\tsample*6\tA.run()\tB.work()\n"
    "3\tone\tlabels\tkind=query,tenant=acme\n"
    "3\tone\tsample*4\tA.run()\tB.find()\n"
    "3\tone\tunwind\tA.run()\tB.find()\n"
    "4\ttwo\tsample*5\tA.run()\tB.work()\n"
    "5\ttwo\tlabels\tkind=query\n"
    "5\ttwo\tsample.parked@a.Lock*2\tA.run()\tB.find()\n"
    "6\tone\tlabels\n"
    "6\tone\tmetric\talloc.bytes\t64\n"
    "9\tone\texit\tA.run()\n";

TEST(LabelsReportTest, HasARowForEachValue) {
  EXPECT_THAT(Rows(kTrace, "labels", kColumns),
              ElementsAre(CsvRow{"kind", "query", "2", "6", "30.00", "6000000", "2"},
                          CsvRow{"kind", "[none]", "3", "14", "70.00", "14000000", "2"},
                          CsvRow{"tenant", "acme", "2", "10", "50.00", "10000000", "1"},
                          CsvRow{"tenant", "[none]", "3", "10", "50.00", "10000000", "2"}));
}

TEST(LabelsReportTest, WithoutLabelsItSaysHowToSetThem) {
  const auto run = RunPost({"--report=labels", "trace"},
                           {{"trace", "# jtrace-text 1 unit=us\n1\tone\tsample\tA.run()\n"}});
  EXPECT_THAT(run.out, HasSubstr("nothing to show: no samples with labels; the program sets them: "
                                 "JTrace.label of jtrace-api.jar\n"));
}

std::vector<CsvRow> Selected(std::vector<std::string> options) {
  options.emplace_back("--report=samples");
  return ParseCsv(ReportCsv(kTrace, std::move(options))).Project({"weight", "labels"});
}

TEST(LabelsReportTest, FilterLeavesSamplesThatHaveAllLabels) {
  EXPECT_THAT(Selected({"--with-label=tenant=acme"}),
              ElementsAre(CsvRow{"6", "tenant=acme"}, CsvRow{"4", "kind=query,tenant=acme"}));
  EXPECT_THAT(Selected({"--with-label=tenant=a*", "--with-label=kind=query"}),
              ElementsAre(CsvRow{"4", "kind=query,tenant=acme"}));
  EXPECT_THAT(Selected({"--with-label=kind=query", "--thread=two"}),
              ElementsAre(CsvRow{"2", "kind=query"}));
}

// Calls, their times and metrics have no labels: they are left out, not shown in full.
TEST(LabelsReportTest, FilterLeavesNothingThatHasNoLabels) {
  const auto rows = ParseCsv(ReportCsv(kTrace, {"--report=flat", "--with-label=tenant=acme"}))
                        .Project({"name", "calls", "elapsed", "cum_ticks"});
  EXPECT_THAT(rows, ::testing::UnorderedElementsAre(
                        CsvRow{"one", "1", "0", "10"}, CsvRow{"A.run()", "0", "0", "10"},
                        CsvRow{"B.work()", "0", "0", "6"}, CsvRow{"B.find()", "0", "0", "4"}));
  EXPECT_THAT(ReportCsv(kTrace, {"--report=metrics", "--with-label=tenant=acme"}),
              Not(HasSubstr("alloc.bytes")));
}

TEST(LabelsReportTest, UnknownLabelsAreRejectedWithTheNearest) {
  const auto error = [](const std::string& option) {
    const auto run = RunPost({"--report=labels", option, "trace"}, {{"trace", kTrace}});
    EXPECT_NE(run.exit_code, 0);
    return run.err;
  };
  EXPECT_THAT(error("--with-label=tenant=acne"),
              HasSubstr("--with-label: no sample with 'tenant=acne' in the trace; nearest: "
                        "tenant=acme"));
  EXPECT_THAT(error("--with-label=acme"), HasSubstr("'acme' is not KEY=VALUE"));
  const auto lines = RunPost({"--report=lines", "--with-label=tenant=acme", "t"}, {{"t", kTrace}});
  EXPECT_THAT(lines.err, HasSubstr("--with-label: lines does not use it"));
}

std::string BinaryTrace() {
  TraceBuilder builder;
  const uint32_t main = builder.Thread("main", 7);
  const uint32_t method = builder.Method(builder.Class("a.B"), "run", "()V");
  const auto sample = [&](uint64_t time, uint32_t labels) {
    const uint32_t frame = builder.Frame(proto::Frame::COMPILED, method);
    builder.Sample(time, main, 0, {frame}).set_labels(labels);
  };
  sample(1, 0);
  sample(2, 8);
  builder.Seal();
  // A definition is valid in earlier chunks, too. The value is as the JVM writes U+1F600.
  proto::LabelSet& set = *builder.chunk().add_label_set();
  set.set_id(8);
  set.add_key(builder.String("tenant"));
  set.add_value(builder.String("a,\xED\xA0\xBD\xED\xB8\x80"));
  sample(3, 8);
  sample(4, 9);
  return builder.Finish();
}

TEST(LabelsReportTest, BinaryTracesAndTheirDumpsHaveTheSameLabels) {
  const std::string trace = BinaryTrace();
  const std::vector<CsvRow> rows = Rows(trace, "samples", {"time", "labels"});
  const std::string labels = "tenant=a\\,\xF0\x9F\x98\x80";
  EXPECT_THAT(rows, ElementsAre(CsvRow{"1", ""}, CsvRow{"2", labels}, CsvRow{"3", labels},
                                CsvRow{"4", ""}));
  const auto dump = RunPost({"--report=dump", "trace"}, {{"trace", trace}});
  EXPECT_EQ(Rows(dump.out, "samples", {"time", "labels"}), rows);
  EXPECT_THAT(RunPost({"--report=labels", "trace"}, {{"trace", trace}}).err,
              HasSubstr("label set 9 was never defined"));
}

}  // namespace
}  // namespace jtrace
