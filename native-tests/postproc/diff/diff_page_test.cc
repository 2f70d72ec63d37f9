// --report=diff,html: two trees in one, whole or cut to a limit; the command line.
#include "postproc/diff/diff_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "native-tests/support/random_trace.h"
#include "native-tests/support/run_post.h"
#include "postproc/analysis.h"
#include "postproc/input/trace_input.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kHead = "# jtrace-text 1 unit=us\n";
std::string Node(const std::string& thread, int calls, const std::string& path) {
  return "0\t" + thread + "\tnode\tcalls=" + std::to_string(calls) + "\t" + path + "\n";
}

// A trace up to the point where reports begin.
class Side {
 public:
  explicit Side(const std::string& trace)
      : environment_{ignored_, ignored_,
                     [trace](const std::string&) { return InputFile::FromMemory(trace); }},
        analysis_(line_) {
    EXPECT_TRUE(analysis_.Read(TraceInput(line_, environment_), {"trace"}).ok());
  }
  ReportInput Input() { return analysis_.Input(); }

 private:
  std::ostringstream ignored_;
  const CommandLine line_;
  Environment environment_;
  Analysis analysis_;
};

json Compared(const std::string& before, const std::string& after, size_t max_nodes) {
  Side old(before);
  Side fresh(after);
  const ProfileDiff diff = Compare(old.Input(), fresh.Input());
  return json::parse(DiffPageData(diff, old.Input(), fresh.Input(), {}, max_nodes));
}

int64_t Sum(const json& column) {
  int64_t sum = 0;
  for (const json& value : column) sum = WrapAdd(sum, value.get<int64_t>());
  return sum;
}

const json& MeasureNamed(const json& data, const std::string& name) {
  for (const json& measure : data["measures"]) {
    if (measure["name"] == name) return measure;
  }
  static const json none;
  ADD_FAILURE() << "no measure " << name;
  return none;
}

TEST(DiffPageTest, PathsOfAllThreadsAreOneTreeOfBothTraces) {
  const json data = Compared(
      kHead + Node("pool-1", 3, "A") + Node("pool-2", 4, "A") + Node("pool-1", 5, "A\tOld") +
          Node("pool-1", 1, "A\tB\tA"),
      kHead + Node("pool-9", 8, "A") + Node("main", 2, "A\tNew") + Node("pool-9", 1, "A\tB\tA"),
      100);
  std::map<std::string, std::pair<int64_t, int64_t>> found;
  std::vector<std::string> path;
  const json& calls = MeasureNamed(data, "calls");
  for (size_t i = 0; i < data["nodes"]["level"].size(); ++i) {
    path.resize(data["nodes"]["level"][i].get<size_t>());
    const auto name = data["nodes"]["name"][i].get<size_t>();
    path.push_back(name < data["routines"].size() ? data["routines"][name].get<std::string>() : "");
    std::string key;
    for (const std::string& step : path) key += "/" + step;
    const bool is_new = found.emplace(key, std::pair(calls["before"][i], calls["after"][i])).second;
    EXPECT_TRUE(is_new) << key;
  }
  using Pair = std::pair<int64_t, int64_t>;
  EXPECT_THAT(found,
              ElementsAre(std::pair("/", Pair(0, 0)), std::pair("//A", Pair(7, 8)),
                          std::pair("//A/B", Pair(0, 0)), std::pair("//A/B/A", Pair(1, 1)),
                          std::pair("//A/New", Pair(0, 2)), std::pair("//A/Old", Pair(5, 0))));
  // Outermost activations: the inner A is in the outer one.
  for (size_t i = 0; i < data["routines"].size(); ++i) {
    if (data["routines"][i] != "A") continue;
    EXPECT_EQ(calls["self_before"][i], 8);
    EXPECT_EQ(calls["total_before"][i], 13);
    EXPECT_EQ(data["changes"].get<std::string>()[i], 'c');
  }
}

TEST(DiffPageTest, ACutTreeHasEveryTotal) {
  for (uint32_t seed = 0; seed < 12; ++seed) {
    const std::string before = testing::RandomTextTrace(seed);
    const std::string after = testing::RandomTextTrace(seed + 100);
    const json whole = Compared(before, after, kMaxPageNodes);
    const size_t count = whole["nodes"]["level"].size();
    EXPECT_EQ(whole["nodes_left_out"], 0);
    for (const size_t limit : {size_t{2}, count / 2, count - 1}) {
      if (limit < 2 || limit >= count) continue;
      const json cut = Compared(before, after, limit);
      EXPECT_LE(cut["nodes"]["level"].size(), limit);
      EXPECT_GT(cut["nodes_left_out"], 0);
      EXPECT_EQ(cut["nodes_in_all"], count);
      for (size_t i = 0; i < whole["measures"].size(); ++i) {
        for (const char* const side : {"before", "after"}) {
          EXPECT_EQ(Sum(cut["measures"][i][side]), Sum(whole["measures"][i][side])) << seed;
        }
        EXPECT_EQ(cut["measures"][i]["self_after"], whole["measures"][i]["self_after"]);
      }
    }
  }
}

TEST(DiffPageTest, WhatIsHotInEitherTraceStays) {
  std::string cold = kHead + Node("main", 1, "A");
  for (const char* const name : {"D", "E", "F", "G", "H", "I"}) {
    cold += Node("main", 3, StrCat("A\t", name));
  }
  const std::string one = cold + Node("main", 5, "A\tB") + Node("main", 400, "A\tC");
  const std::string other = cold + Node("main", 300, "A\tB") + Node("main", 2, "A\tC");
  for (const auto& [before, after] : {std::pair(one, other), std::pair(other, one)}) {
    const json data = Compared(before, after, 8);
    std::vector<std::string> kept;
    for (const json& name : data["nodes"]["name"]) {
      if (name < data["routines"].size() && name >= 0)
        kept.push_back(data["routines"][name.get<size_t>()]);
    }
    EXPECT_THAT(kept, ElementsAre("A", "C", "B"));
  }
}

TEST(DiffPageTest, TheMeasuresAreThoseOfTheRoutines) {
  for (uint32_t seed = 0; seed < 12; ++seed) {
    const json data = Compared(testing::RandomTextTrace(seed), testing::RandomTextTrace(seed + 50),
                               kMaxPageNodes);
    for (const json& measure : data["measures"]) {
      EXPECT_EQ(Sum(measure["before"]), Sum(measure["self_before"])) << measure["name"] << seed;
      EXPECT_EQ(Sum(measure["after"]), Sum(measure["self_after"])) << measure["name"] << seed;
    }
  }
}

testing::RunResult Page(const std::vector<std::string>& options) {
  const std::string trace = kHead + Node("main", 1, "A");
  return testing::RunPost(options, {{"before", trace}, {"after", kHead + Node("main", 2, "A")}});
}

TEST(DiffPageTest, TheCommandLineSaysWhatGoesTogether) {
  const auto page = Page({"--report=diff,html", "before", "after"});
  EXPECT_EQ(page.exit_code, 0) << page.err;
  EXPECT_THAT(page.out, HasSubstr("<!doctype html>"));
  EXPECT_EQ(Page({"--report=html,diff", "before", "after"}).out, page.out);
  const auto rule = Page({"--report=diff,html", "--fail-on=calls>0", "before", "after"});
  EXPECT_EQ(rule.exit_code, 3);
  EXPECT_THAT(rule.out, HasSubstr("<!doctype html>"));
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{"--report=diff,html", "before"}, "takes two traces, before and after"},
      {{"--report=diff,html,flat", "before", "after"}, "no other report"},
      {{"--report=diff,flat", "before", "after"}, "no other report but html"},
      {{"--report=markdown,html", "before", "after"}, "before and after, and no other"},
      {{"--report=diff,html", "--format=csv", "before", "after"}, "--format: diff,html is a page"},
      {{"--report=diff,html", "--top=3", "before", "after"}, "--top: html does not use it"},
      {{"--report=diff,html", "--metric=calls", "before", "after"}, "menu of all measures"}};
  for (const auto& [options, message] : wrong) {
    const auto run = Page(options);
    EXPECT_EQ(run.exit_code, 1) << run.err;
    EXPECT_THAT(run.err, HasSubstr(message));
  }
}

}  // namespace
}  // namespace jtrace::postproc
