#include <gtest/gtest.h>
#include <regex.h>

#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "agent/metrics/metrics_report.h"

namespace jtrace::metrics {
namespace {

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

TEST(MetricsJson, SaysTheSameToAParser) {
  const nlohmann::json json = nlohmann::json::parse(MetricsAsJson(Sample()));
  EXPECT_EQ(json["pid"], 4711);
  EXPECT_EQ(json["ended_threads"], 3);
  EXPECT_EQ(json["metrics"][0]["process"].get<int64_t>(), 9007199254740993);
  EXPECT_EQ(json["metrics"][0]["unit"], "B");
  EXPECT_EQ(json["metrics"][0]["by_thread"], true);
  EXPECT_EQ(json["metrics"][2]["by_thread"], false);
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

// An answer of the control socket has no room for any number of threads.
TEST(MetricsFormat, TheRestOfManyThreadsIsSummed) {
  MetricsReport report = Sample();
  report.threads.clear();
  for (uint64_t i = 0; i < 100; ++i) {
    report.threads.push_back(
        {.name = absl::StrCat("worker-", i),
         .java_tid = i + 1,
         .os_tid = 1,
         .values = {1, INT64_MAX, {}, -1, i == 99 ? std::optional(5) : std::nullopt}});
  }
  const nlohmann::json json = nlohmann::json::parse(Format(report, {.threads = 40}));
  EXPECT_EQ(json["threads"].size(), 40u);
  EXPECT_EQ(json["threads"][39]["name"], "worker-39");
  EXPECT_EQ(json["more"]["threads"], 60);
  const nlohmann::json expected = {
      {"alloc.bytes", 60}, {"cpu.ns", -60}, {"user.a-b", -60}, {"user.a.b", 5}};
  EXPECT_EQ(json["more"]["totals"], expected) << "sums wrap";
  EXPECT_FALSE(nlohmann::json::parse(Format(report, {})).contains("more"));
  EXPECT_EQ(nlohmann::json::parse(Format(report, {})).at("threads").size(), 100u);
}

TEST(MetricsFormat, ReadsOptions) {
  EXPECT_EQ(ParseMetricsFormat("")->kind, MetricsFormat::kJson);
  EXPECT_EQ(ParseMetricsFormat("--format=json")->kind, MetricsFormat::kJson);
  EXPECT_EQ(ParseMetricsFormat("--threads=40  --format=json")->threads, 40u);
  EXPECT_EQ(ParseMetricsFormat("--format=prometheus")->kind, MetricsFormat::kPrometheus);
  for (const char* wrong :
       {"--format=xml", "--format=text", "--columns=80", "--format", "json", "--threads=x"}) {
    EXPECT_EQ(ParseMetricsFormat(wrong).status().code(), absl::StatusCode::kInvalidArgument)
        << wrong;
  }
}

}  // namespace
}  // namespace jtrace::metrics
