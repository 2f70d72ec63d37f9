#include "agent/metrics/metrics_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex.h>

#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "agent/metrics/name_text.h"

namespace jtrace::metrics {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kHostile[] = "evil\"\\\n} 1\x1b[31m😀";

MetricsReport Sample() {
  MetricsReport report = {.pid = 4711, .ended_threads = 3};
  report.metrics = {{.number = 0,
                     .name = "alloc.bytes",
                     .unit = "B",
                     .what = "bytes allocated",
                     .by_thread = true,
                     .process = 9007199254740993,  // no double has it
                     .ended = 1234567},
                    {.number = 5,
                     .name = "cpu.ns",
                     .unit = "ns",
                     .what = "processor time",
                     .by_thread = true,
                     .process = 1'234'567'890,
                     .ended = 5},
                    {.number = 12, .name = "gc.ns", .unit = "ns", .process = 7},
                    {.number = 24,
                     .name = "user.a-b",
                     .what = "counted by the program",
                     .may_fall = true,
                     .by_thread = true,
                     .process = -3,
                     .ended = 0},
                    {.number = 25, .name = "user.a.b", .may_fall = true, .by_thread = true}};
  report.threads = {
      {.name = "main", .java_tid = 1, .os_tid = 100, .values = {1500, 999'999, {}, 5, 0}},
      {.name = kHostile, .java_tid = 9, .os_tid = 101, .values = {0, 12'345'678, {}, -8, 0}},
      {.name = "", .java_tid = 30, .os_tid = 0, .values = {77, {}, {}, 0, 0}}};
  return report;
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
  MetricsReport report = Sample();
  report.threads[0].name = std::string(500, 'x');
  report.threads[1].name = "日本語日本語日本語日本語日本語日本語日本語";
  for (int i = 0; i < 12; ++i) {
    report.metrics.push_back({.name = absl::StrCat("user.", std::string(60, 'u'), i),
                              .unit = "furlongs",
                              .what = std::string(200, 'w'),
                              .by_thread = true,
                              .process = INT64_MIN});
    for (ReportedThread& thread : report.threads) thread.values.push_back(i);
  }
  for (const size_t columns : {60, 80, 100, 200}) {
    for (const absl::string_view line : absl::StrSplit(MetricsAsText(report, columns), '\n')) {
      EXPECT_LE(ColumnsOf(line), columns) << line;
    }
  }
}

TEST(MetricsText, TheRestOfManyThreadsIsSummed) {
  MetricsReport report = Sample();
  report.threads.clear();
  for (uint64_t i = 0; i < 100; ++i) {
    report.threads.push_back({.name = absl::StrCat("worker-", i),
                              .java_tid = i + 1,
                              .os_tid = 1,
                              .values = {1, 1, {}, 1, 1}});
  }
  const std::string text = MetricsAsText(report, 80);
  EXPECT_THAT(text, HasSubstr("worker-39 "));
  EXPECT_THAT(text, Not(HasSubstr("worker-40 ")));
  EXPECT_THAT(text, HasSubstr("(60 more)         60 B       60 ns          60"));
}

TEST(MetricsJson, SaysTheSameToAParser) {
  const nlohmann::json json = nlohmann::json::parse(MetricsAsJson(Sample()));
  EXPECT_EQ(json["pid"], 4711);
  EXPECT_EQ(json["ended_threads"], 3);
  EXPECT_EQ(json["metrics"][0]["process"].get<int64_t>(), 9007199254740993);
  EXPECT_EQ(json["metrics"][0]["unit"], "B");
  EXPECT_EQ(json["metrics"][0]["ended"], 1234567);
  EXPECT_FALSE(json["metrics"][2].contains("ended")) << "known as one total only";
  EXPECT_EQ(json["threads"][1]["name"], kHostile);
  EXPECT_EQ(json["threads"][1]["totals"]["user.a-b"], -8);
  EXPECT_FALSE(json["threads"][0]["totals"].contains("gc.ns"));
  EXPECT_FALSE(json["threads"][0]["virtual"]);
  EXPECT_TRUE(json["threads"][2]["virtual"]);
  EXPECT_FALSE(json["threads"][2]["totals"].contains("cpu.ns")) << "left out, not 0 and not -1";
}

// A line of the format: its parts, or nothing. By POSIX: std::regex does not compile under ASan
// with warnings as errors.
std::vector<std::string> PartsOfSample(const std::string& line) {
  constexpr char kSample[] =
      R"re(^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{([a-z_]+="([^"\]|\\\\|\\"|\\n)*",?)*\})? (-?[0-9.]+)$)re";
  regex_t pattern;
  if (regcomp(&pattern, kSample, REG_EXTENDED) != 0) return {};
  std::array<regmatch_t, 6> groups;
  std::vector<std::string> parts;
  if (regexec(&pattern, line.c_str(), groups.size(), groups.data(), 0) == 0) {
    for (const regmatch_t& it : groups) {
      const bool is_there = it.rm_so >= 0;
      parts.push_back(is_there ? line.substr(it.rm_so, it.rm_eo - it.rm_so) : std::string());
    }
  }
  regfree(&pattern);
  return parts;
}

// Reads the format as its specification has it.
class Exposition {
 public:
  explicit Exposition(const std::string& text) {
    std::string family;
    for (const std::string& line : std::vector<std::string>(absl::StrSplit(text, '\n'))) {
      if (line.empty()) continue;
      if (line.starts_with("# TYPE ")) {
        const std::vector<std::string> words = absl::StrSplit(line, ' ');
        EXPECT_TRUE(types.emplace(words[2], words[3]).second) << "twice: " << line;
        family = words[2];
      } else if (!line.starts_with("# HELP ")) {
        const std::vector<std::string> parts = PartsOfSample(line);
        EXPECT_FALSE(parts.empty()) << line;
        if (parts.empty()) continue;
        EXPECT_EQ(parts[1], family) << "a sample stands under its own type";
        EXPECT_TRUE(samples.emplace(parts[1] + parts[2], parts[5]).second) << line;
      }
    }
  }

  std::map<std::string, std::string> types;
  std::map<std::string, std::string> samples;
};

TEST(MetricsPrometheus, IsAValidExposition) {
  const Exposition read(MetricsAsPrometheus(Sample()));
  const auto sample = [&](const std::string& name) {
    const auto found = read.samples.find(name);
    return found != read.samples.end() ? found->second : "missing";
  };
  EXPECT_EQ(sample("jtrace_process_alloc_bytes_total"), "9007199254740993");
  EXPECT_EQ(sample(R"(jtrace_alloc_bytes_total{thread="main",tid="1",os_tid="100"})"), "1500");
  EXPECT_EQ(sample("jtrace_alloc_bytes_total{thread=\"(ended)\",tid=\"0\",os_tid=\"0\"}"),
            "1234567");
  EXPECT_EQ(sample("jtrace_process_cpu_seconds_total"), "1.234567890");
  EXPECT_EQ(sample("jtrace_process_gc_seconds_total"), "0.000000007");
  EXPECT_EQ(sample("jtrace_process_user_a_b"), "-3");
  EXPECT_EQ(sample("jtrace_process_user_a_b_25"), "0") << "another counter, a name of its own";
  EXPECT_EQ(
      sample("jtrace_user_a_b{thread=\"evil\\\"\\\\\\n} 1\x1b[31m😀\",tid=\"9\",os_tid=\"101\"}"),
      "-8");
  EXPECT_EQ(read.types.at("jtrace_alloc_bytes_total"), "counter");
  EXPECT_EQ(read.types.at("jtrace_user_a_b"), "gauge");
  EXPECT_FALSE(read.types.contains("jtrace_gc_seconds_total")) << "not known by thread";
}

TEST(MetricsFormat, ReadsOptions) {
  EXPECT_EQ(ParseMetricsFormat("")->kind, MetricsFormat::kText);
  EXPECT_EQ(ParseMetricsFormat("--columns=80  --format=json")->kind, MetricsFormat::kJson);
  EXPECT_EQ(ParseMetricsFormat("--columns=80")->columns, 80U);
  EXPECT_EQ(ParseMetricsFormat("--format=prometheus")->kind, MetricsFormat::kPrometheus);
  for (const char* wrong : {"--format=xml", "--columns=x", "--format", "json"}) {
    EXPECT_EQ(ParseMetricsFormat(wrong).status().code(), absl::StatusCode::kInvalidArgument)
        << wrong;
  }
}

}  // namespace
}  // namespace jtrace::metrics
