#include "postproc/cli/metrics_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/utf8.h"

namespace jtrace::control {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kHostile[] = "evil\"\\\n} 1\x1b[31m😀";

MetricsAnswer Sample() {
  MetricsAnswer answer = {
      .pid = 4711, .ended_threads = 3, .metrics = {}, .threads = {}, .more = {}};
  answer.metrics = {{.name = "alloc.bytes",
                     .unit = "B",
                     .what = "bytes allocated",
                     .by_thread = true,
                     .process = 9007199254740993,  // no double has it
                     .ended = 1234567},
                    {.name = "cpu.ns",
                     .unit = "ns",
                     .what = "processor time",
                     .by_thread = true,
                     .process = 1'234'567'890,
                     .ended = 5},
                    {.name = "gc.ns", .unit = "ns", .what = "", .process = 7, .ended = {}},
                    {.name = "user.a-b",
                     .unit = "",
                     .what = "counted by the program",
                     .by_thread = true,
                     .process = -3,
                     .ended = 0},
                    {.name = "user.a.b", .unit = "", .what = "", .by_thread = true, .ended = {}}};
  answer.threads = {
      {.name = "main", .java_tid = 1, .os_tid = 100, .values = {1500, 999'999, {}, 5, 0}},
      {.name = kHostile, .java_tid = 9, .os_tid = 101, .values = {0, 12'345'678, {}, -8, 0}},
      {.name = "", .java_tid = 30, .os_tid = 0, .values = {77, {}, {}, 0, 0}}};
  return answer;
}

TEST(MetricsText, TotalsAreExactAndThreadsAreRounded) {
  EXPECT_EQ(MetricsAsText(Sample(), 100), R"text(process 4711: 3 threads, 3 have ended

metric                       total  unit  what
alloc.bytes  9,007,199,254,740,993  B     bytes allocated
cpu.ns               1,234,567,890  ns    processor time
gc.ns                            7  ns
user.a-b                        -3        counted by the program
user.a.b                         0

thread                   alloc.bytes      cpu.ns    user.a-b    user.a.b
main                         1.50 kB     1.00 ms           5           0
evil"\\x0a} 1\x1b[31m😀          0 B     12.3 ms          -8           0
virtual 30                      77 B                       0           0
(3 ended)                    1.23 MB        5 ns           0
)text");
}

// Whatever the names and however many metrics.
TEST(MetricsText, NoLineIsWiderThanTheTerminal) {
  MetricsAnswer report = Sample();
  report.threads[0].name = std::string(500, 'x');
  report.threads[1].name = "日本語日本語日本語日本語日本語日本語日本語";
  for (int i = 0; i < 12; ++i) {
    report.metrics.push_back({.name = absl::StrCat("user.", std::string(60, 'u'), i),
                              .unit = "furlongs",
                              .what = std::string(200, 'w'),
                              .by_thread = true,
                              .process = INT64_MIN,
                              .ended = {}});
    for (MetricsAnswer::Thread& thread : report.threads) thread.values.push_back(i);
  }
  for (const size_t columns : {60, 80, 100, 200}) {
    for (const std::string& line :
         std::vector<std::string>(absl::StrSplit(MetricsAsText(report, columns), '\n'))) {
      EXPECT_LE(ColumnsOf(line), columns) << line;
    }
  }
}

TEST(MetricsText, TheRestOfManyThreadsIsOneRow) {
  MetricsAnswer answer = Sample();
  answer.more_threads = 60;
  answer.more = {60, 60, {}, 60, 60};
  const std::string text = MetricsAsText(answer, 80);
  EXPECT_THAT(text, HasSubstr("process 4711: 63 threads"));
  EXPECT_THAT(text, ::testing::ContainsRegex("\n\\(60 more\\) +60 B +60 ns +60 +60\n"));
}

// A table of `text`, which is hostile or cut off.
std::string TextOf(std::string_view json) {
  const auto answer = ParseMetricsAnswer(json);
  return answer.ok() ? MetricsAsText(*answer, 80) : std::string(answer.status().message());
}

TEST(MetricsAnswer, ReadsWhatTheAgentWrites) {
  const auto answer = ParseMetricsAnswer(R"json({"pid":7,"ended_threads":2,"metrics":[
{"name":"cpu.ns","unit":"ns","what":"time","by_thread":true,"process":12,"ended":5},
{"name":"gc.ns","unit":"ns","what":"","by_thread":false,"process":-9007199254740993}],"threads":[
{"name":"ma\u0069n","java_tid":1,"os_tid":8,"virtual":false,"partial":false,"totals":{"cpu.ns":7}}]}
)json");
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->pid, 7);
  EXPECT_EQ(answer->ended_threads, 2u);
  ASSERT_EQ(answer->metrics.size(), 2u);
  EXPECT_EQ(answer->metrics[0].name, "cpu.ns");
  EXPECT_EQ(answer->metrics[0].ended, 5);
  EXPECT_TRUE(answer->metrics[0].by_thread);
  EXPECT_EQ(answer->metrics[1].process, -9007199254740993);
  EXPECT_EQ(answer->metrics[1].ended, std::nullopt);
  ASSERT_EQ(answer->threads.size(), 1u);
  EXPECT_EQ(answer->threads[0].name, "main");
  EXPECT_THAT(answer->threads[0].values, ::testing::ElementsAre(7, std::nullopt));
}

TEST(MetricsAnswer, WhatIsNotAnAnswerIsAnError) {
  for (const char* text : {"", "[]", "7", "{", "{\"pid\":1,", "\"\x1b[2J\""}) {
    EXPECT_THAT(TextOf(text), HasSubstr("not a JSON object")) << text;
  }
}

TEST(MetricsAnswer, MembersOfOtherTypesCountAsEmpty) {
  EXPECT_THAT(TextOf(R"({"pid":"x","metrics":{"a":7},"threads":[1,null,{"totals":[]}]})"),
              HasSubstr("process 0: 3 threads, 0 have ended"));
  EXPECT_THAT(TextOf(R"({"metrics":7,"threads":"x"})"), HasSubstr("process 0: "));
}

TEST(MetricsAnswer, NamesOfMetricsCommandNoTerminal) {
  const std::string text = TextOf(
      R"({"metrics":[{"name":"a\u001b[2J","unit":"\u009b","what":"\u202e","by_thread":true}]})");
  EXPECT_THAT(text, HasSubstr("a\\x1b[2J"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\u202e")));
}

TEST(MetricsAnswer, NamesOfMetricsAddNoLine) {
  const std::string text = TextOf(
      R"({"metrics":[{"name":"x\n[forged] JVM 1 stopped","by_thread":true}],"threads":[{}]})");
  EXPECT_THAT(text, HasSubstr("x\\x0a[forged]"));
  EXPECT_THAT(text, Not(HasSubstr("\n[forged]")));
}

TEST(MetricsAnswer, TheOtherThreadsAreRead) {
  const auto answer = ParseMetricsAnswer(
      R"({"metrics":[{"name":"x"},{"name":"y"}],"more":{"threads":7,"totals":{"y":-3}}})");
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->more_threads, 7u);
  EXPECT_THAT(answer->more, ::testing::ElementsAre(std::nullopt, -3));
}

// Each bracket would be an object in memory.
TEST(MetricsAnswer, DeeperThanAnAnswerIsAnError) {
  EXPECT_THAT(TextOf("{\"metrics\":" + std::string(1'000'000, '[')),
              HasSubstr("not a JSON object"));
  EXPECT_THAT(TextOf(R"({"threads":[{"totals":{"x":[[]]}}]})"), HasSubstr("not a JSON object"));
  EXPECT_THAT(TextOf(R"({"threads":[{"totals":{"x":7}}]})"), HasSubstr("1 thread,"));
}

TEST(MetricsAnswer, AClaimOfMoreThanItHoldsIsAnError) {
  std::string json = "{\"metrics\":[{}";
  for (int i = 0; i < 20'000; ++i) json += ",{}";
  json += "],\"threads\":[{}";
  for (int i = 0; i < 20'000; ++i) json += ",{}";
  EXPECT_THAT(TextOf(json + "]}"), HasSubstr("too many threads or metrics"));
}

}  // namespace
}  // namespace jtrace::control
