// Which threads others waited for (S4.17), worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "native-tests/support/csv.h"
#include "native-tests/support/run_post.h"
#include "native-tests/support/trace_builder.h"

namespace jtrace {
namespace {

using testing::CsvRow;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Rows;
using testing::TraceBuilder;

const CsvRow kColumns = {"row", "waited_for", "waits", "time", "longest", "kind",
                         "how", "waiter",     "on",    "at",   "by"};

// Two threads wait for the slow one at a barrier, twice; one joins it; "quick" had a monitor; some
// waits have no thread. The thread with the most time is first, and its rows by their time.
constexpr char kTrace[] =
    "# jtrace-text 1 unit=us\n"
    "10\ta\twaited-park\thow=unparked\tvalue=8\ton=Gate\tfor=slow\tat=A.run()\tby=S.work()\n"
    "11\tb\twaited-park\thow=unparked\tvalue=7\ton=Gate\tfor=slow\tat=A.run()\tby=S.work()\n"
    "20\ta\twaited-park\thow=unparked\tvalue=9\ton=Gate\tfor=slow\tat=A.run()\tby=S.work()\n"
    "20\tmain\twaited-monitor\thow=owned\tvalue=20\ton=Lock\tfor=quick\tat=A.main()\n"
    "30\tmain\twaited-object\thow=ended\tvalue=2\ton=java.lang.Thread\tfor=slow\n"
    "31\tmain\twaited-object\thow=notified\tvalue=1\ton=Box\n"
    "32\tmain\twaited-park\thow=timed-out\tvalue=3\n"
    "33\tmain\twaited-park\thow=interrupted\tvalue=0\n"
    "34\tmain\twaited-monitor\thow=unowned\tvalue=4\ton=Lock\n";

TEST(WaitedReportTest, HasASumForEachThreadThatWasWaitedForAndItsWaits) {
  EXPECT_THAT(
      Rows(kTrace, "waited", kColumns),
      ElementsAre(
          CsvRow{"sum", "slow", "4", "26", "9", "", "", "", "", "", ""},
          CsvRow{"wait", "slow", "2", "17", "9", "park", "unparked", "a", "Gate", "A.run()",
                 "S.work()"},
          CsvRow{"wait", "slow", "1", "7", "7", "park", "unparked", "b", "Gate", "A.run()",
                 "S.work()"},
          CsvRow{"wait", "slow", "1", "2", "2", "join", "ended", "main", "java.lang.Thread", "",
                 ""},
          CsvRow{"sum", "quick", "1", "20", "20", "", "", "", "", "", ""},
          CsvRow{"wait", "quick", "1", "20", "20", "monitor", "owned", "main", "Lock", "A.main()",
                 ""},
          CsvRow{"sum", "[unknown]", "1", "4", "4", "", "", "", "", "", ""},
          CsvRow{"wait", "[unknown]", "1", "4", "4", "monitor", "unowned", "main", "Lock", "", ""},
          CsvRow{"sum", "[timed out]", "1", "3", "3", "", "", "", "", "", ""},
          CsvRow{"wait", "[timed out]", "1", "3", "3", "park", "timed-out", "main", "", "", ""},
          CsvRow{"sum", "[notified]", "1", "1", "1", "", "", "", "", "", ""},
          CsvRow{"wait", "[notified]", "1", "1", "1", "wait", "notified", "main", "Box", "", ""},
          CsvRow{"sum", "[interrupted]", "1", "0", "0", "", "", "", "", "", ""},
          CsvRow{"wait", "[interrupted]", "1", "0", "0", "park", "interrupted", "main", "", "",
                 ""}));
}

TEST(WaitedReportTest, AsTextAndJson) {
  const std::string text = testing::RunPost({"--report=waited", "t"}, {{"t", kTrace}}).out;
  EXPECT_THAT(text, HasSubstr("waited_for"));
  EXPECT_THAT(text, HasSubstr("A.run()"));
  const std::string json =
      testing::RunPost({"--report=waited", "--format=json", "t"}, {{"t", kTrace}}).out;
  EXPECT_THAT(json, HasSubstr("\"waited_for\""));
}

// Of a thread that is chosen: what it waited for.
TEST(WaitedReportTest, ThreadsAreThoseThatWait) {
  EXPECT_THAT(testing::ReportCsv(kTrace, {"--report=waited", "--thread=b"}),
              HasSubstr("wait,slow,1,7,7,park,unparked,b,"));
  EXPECT_THAT(testing::ReportCsv(kTrace, {"--report=waited", "--thread=b"}),
              ::testing::Not(HasSubstr("quick")));
}

// Two rows less: a part of 4 of 54 is left out.
TEST(WaitedReportTest, SmallOnesCanBeLeftOut) {
  EXPECT_THAT(testing::ReportCsv(kTrace, {"--report=waited", "--filter=10"}),
              ::testing::Not(HasSubstr("[unknown]")));
}

TEST(WaitedReportTest, BinaryTracesAndTheirDumpsHaveTheSame) {
  TraceBuilder builder;
  const uint32_t a = builder.Class("A");
  const uint32_t run = builder.Routine(a, "run", "()V");
  const uint32_t put = builder.Routine(a, "put", "()V");
  const uint32_t waiter = builder.Thread("waiter", 1, 1);
  const uint32_t worker = builder.Thread("worker", 2, 2);
  proto::Event& event = builder.Event(50, waiter, format::kWaited, format::kWaitedPark, 40);
  event.set_text(builder.String("a.Queue"));
  event.mutable_wait_event()->set_cause(proto::WaitEvent::UNPARKED);
  event.mutable_wait_event()->set_by_thread(worker);
  event.mutable_wait_event()->set_routine(run);
  event.mutable_wait_event()->set_by_routine(put);
  builder.Event(60, waiter, format::kWaited, format::kWaitedMonitor, 5)
      .mutable_wait_event()
      ->set_cause(proto::WaitEvent::UNOWNED);
  const std::string trace = builder.Finish();
  const std::string csv = testing::ReportCsv(trace, {"--report=waited"});
  EXPECT_THAT(csv, HasSubstr("wait,worker,1,40,40,park,unparked,waiter,a.Queue,A.run(),A.put()\n"));
  EXPECT_THAT(csv, HasSubstr("wait,[unknown],1,5,5,monitor,unowned,waiter,,,\n"));
  const std::string dump = testing::RunPost({"dump", "t"}, {{"t", trace}}).out;
  EXPECT_EQ(testing::ReportCsv(dump, {"--report=waited"}), csv);
}

// Numbers that nothing defines, causes of a newer agent, a time below 0, no details at all.
TEST(WaitedReportTest, DamagedRecordsAreSurvived) {
  TraceBuilder builder;
  const uint32_t waiter = builder.Thread("waiter", 1, 1);
  proto::WaitEvent& wait =
      *builder.Event(50, waiter, format::kWaited, format::kWaitedPark, -40).mutable_wait_event();
  wait.set_cause(static_cast<proto::WaitEvent::Cause>(99));
  wait.set_by_thread(4711);
  wait.set_routine(4712);
  wait.set_by_routine(0xFFFFFFFF);
  builder.Event(60, waiter, format::kWaited, format::kWaitedObject, 5);
  const std::string csv = testing::ReportCsv(builder.Finish(), {"--report=waited"});
  EXPECT_THAT(csv, HasSubstr("wait,[thread 4711],1,0,0,park,unknown,waiter,,[routine 4712],"));
  EXPECT_THAT(csv, HasSubstr("wait,[unknown],1,5,5,wait,unknown,waiter,,,\n"));
}

TEST(WaitedReportTest, TextWithoutTheUsualArguments) {
  EXPECT_THAT(Rows("# jtrace-text 1 unit=us\n"
                   "1\ta\twaited-park\n"
                   "2\ta\twaited-object\tfor=b\tvalue=x\thow=\n"
                   "3\t\twaited-park\tfor=c\n",
                   "waited", {"row", "waited_for", "waits", "time", "kind"}),
              ElementsAre(CsvRow{"sum", "[unknown]", "1", "0", ""},
                          CsvRow{"wait", "[unknown]", "1", "0", "park"},
                          CsvRow{"sum", "b", "1", "0", ""}, CsvRow{"wait", "b", "1", "0", "wait"}));
}

}  // namespace
}  // namespace jtrace
