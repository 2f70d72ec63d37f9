// The data of a page: the whole tree, or, cut to a limit, its hottest part with every total.
#include "postproc/page/page_data.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "native-tests/support/random_trace.h"
#include "postproc/analysis.h"
#include "postproc/input/trace_input.h"
#include "postproc/page/page_times.h"
#include "postproc/page/page_tree.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

using nlohmann::json;

// A trace up to the point where reports begin.
class Profile {
 public:
  explicit Profile(const std::string& trace, MergeMode merge = MergeMode::kChain)
      : line_(With(merge)),
        environment_{ignored_, ignored_,
                     [&](const std::string&) { return InputFile::FromMemory(trace); }},
        analysis_(line_) {
    EXPECT_TRUE(analysis_.Read(TraceInput(line_, environment_), {"trace"}).ok());
  }

  json Data(size_t max_nodes) { return json::parse(PageData(analysis_.Input(), max_nodes)); }
  // As pages have it.
  json DataWithSites(size_t max_nodes) {
    return json::parse(PageData(analysis_.InputWithSites(), max_nodes));
  }
  ReportInput Input() { return analysis_.Input(); }
  const CallTree& tree() { return analysis_.Input().tree; }

 private:
  static CommandLine With(MergeMode merge) {
    CommandLine line;
    line.merge = merge;
    return line;
  }
  std::ostringstream ignored_;
  const CommandLine line_;
  Environment environment_;
  Analysis analysis_;
};

// Modulo 2^64: random traces have absurd numbers.
int64_t Sum(const json& column) {
  int64_t sum = 0;
  for (const json& value : column) sum = WrapAdd(sum, value.get<int64_t>());
  return sum;
}

TEST(PageDataTest, ColumnsHaveAValueForEachNode) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Profile profile(testing::RandomTextTrace(seed));
    const json data = profile.Data(kMaxPageNodes);
    const json& nodes = data["nodes"];
    const size_t count = profile.tree().size();
    for (const char* column : {"level", "name", "calls", "calls_jitted", "base", "off", "min",
                               "max", "base_ticks", "samples"}) {
      EXPECT_EQ(nodes[column].size(), count) << column;
    }
    EXPECT_EQ(nodes["origin"].get<std::string>().size(), count);
    EXPECT_EQ(nodes["metrics"].size(), data["metrics"].size());
    EXPECT_EQ(data["kinds"].get<std::string>().size(), data["routines"].size());
    EXPECT_EQ(data["pruned"]["nodes"], 0);
    // Preorder: a level is at most one more than the one before.
    for (size_t i = 1; i < count; ++i) {
      EXPECT_LE(nodes["level"][i].get<int>(), nodes["level"][i - 1].get<int>() + 1);
    }
  }
}

TEST(PageDataTest, NodesHaveTheirPlaceIfAnyWasRecorded) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const std::string trace = testing::RandomTextTrace(seed);
    EXPECT_FALSE(Profile(trace).DataWithSites(kMaxPageNodes)["nodes"].contains("place"));
    Profile profile(testing::WithCallPlaces(trace, seed));
    const json without = profile.Data(kMaxPageNodes)["nodes"];
    EXPECT_FALSE(without.contains("place"));
    for (const size_t limit : {kMaxPageNodes, size_t{10}}) {
      const json with = profile.DataWithSites(limit)["nodes"];
      if (!with.contains("place")) continue;
      EXPECT_EQ(with["place"].size(), with["level"].size());
      for (const char* column : {"calls", "calls_jitted", "base", "off", "base_ticks"}) {
        EXPECT_EQ(Sum(with[column]), Sum(without[column])) << seed << column;
      }
    }
  }
}

TEST(PageDataTest, PlacesAreLinesAndBytecodeIndexes) {
  Profile profile(
      "# jtrace-text 1 unit=us\n"
      "0\tT\tnode\tcalls=1\tA\n"
      "0\tT\tnode\tcalls=3\tA\\:120\tB\n"
      "0\tT\tnode\tcalls=2\tA\\@17\tB\n");
  const json nodes = profile.DataWithSites(kMaxPageNodes)["nodes"];
  EXPECT_EQ(nodes["place"], json({0, 0, 240, 35}));
  EXPECT_EQ(nodes["calls"], json({1, 1, 3, 2}));
}

TEST(PageDataTest, EveryTotalHoldsHoweverLittleIsKept) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Profile profile(testing::RandomTextTrace(seed));
    const json whole = profile.Data(kMaxPageNodes);
    const size_t threads = whole["threads"].size();
    for (const size_t limit : {size_t{1}, size_t{5}, size_t{10}, size_t{20}, size_t{40}}) {
      const json part = profile.Data(limit);
      const json& nodes = part["nodes"];
      const size_t count = nodes["level"].size();
      // With a root and a summary for each thread there may be more.
      EXPECT_LE(count, std::max(limit, 2 * threads)) << seed;
      for (const char* column : {"calls", "calls_jitted", "base", "off", "base_ticks", "samples"}) {
        EXPECT_EQ(Sum(nodes[column]), Sum(whole["nodes"][column])) << seed << " " << column;
      }
      for (size_t i = 0; i < part["metrics"].size(); ++i) {
        EXPECT_EQ(Sum(nodes["metrics"][i]), Sum(whole["nodes"]["metrics"][i]));
      }
      EXPECT_EQ(part["flat"], whole["flat"]);
      size_t summaries = 0;
      for (const json& name : nodes["name"]) summaries += name == -1 ? 1 : 0;
      EXPECT_EQ(count - summaries + part["pruned"]["nodes"].get<size_t>(),
                whole["nodes"]["level"].size());
    }
  }
}

// So that a graph can show all functions.
TEST(PageDataTest, EachRoutineHasANodeHoweverColdItIs) {
  std::string trace = "# jtrace-text 1 unit=ns\n0\tm\tnode\tbase=1,calls=1\tCold\n";
  std::string path;
  for (int i = 0; i < 60; ++i) trace += "0\tm\tnode\tbase=10,calls=1" + (path += "\tHot") + "\n";
  trace += "0\tm\tnode\tbase=1,calls=1" + path + "\tDeep\n";
  Profile profile(trace);
  const json data = profile.Data(40);
  const auto has = [&](std::string_view routine) {
    for (const json& name : data["nodes"]["name"]) {
      const auto number = name.get<int64_t>();
      if (number >= 0 && number < static_cast<int64_t>(data["routines"].size()) &&
          data["routines"][static_cast<size_t>(number)] == routine) {
        return true;
      }
    }
    return false;
  };
  EXPECT_TRUE(has("Hot"));
  EXPECT_TRUE(has("Cold"));
  EXPECT_FALSE(has("Deep")) << "there is no room for the sixty nodes above it";
}

TEST(PageDataTest, EveryTotalHoldsForBinaryTraces) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    Profile profile(testing::RandomBinaryTrace(seed));
    EXPECT_EQ(profile.Data(kMaxPageNodes)["nodes"]["level"].size(), profile.tree().size());
  }
}

TEST(PageDataTest, HookedFunctionsAreNativeThoughNoSampleHasThem) {
  Profile profile(
      "# jtrace-text 1 unit=ns\n"
      "0\tmain\thook\tN:libc.so.6!malloc\tcount\t\tcalls=3\tA\n"
      "0\tmain\thook\tV:libjvm.so!os::malloc\tcount\t\tcalls=2\tA\n");
  const json data = profile.Data(kMaxPageNodes);
  const std::string kinds = data["kinds"].get<std::string>();
  std::map<std::string, char> kind_of;
  for (size_t i = 0; i < kinds.size(); ++i) kind_of[data["routines"][i]] = kinds[i];
  EXPECT_EQ(kind_of["malloc"], 'N');
  EXPECT_EQ(kind_of["os::malloc"], 'V');
  EXPECT_EQ(kind_of["A"], 'E');
}

TEST(PageDataTest, ThreadsKnowTheirGroup) {
  const json data = Profile(
                        "# jtrace-text 1 unit=ns\n"
                        "0\tpool-1-thread-7\tenter\tA\n"
                        "0\tC2 CompilerThread0\tenter\tA\n"
                        "0\tmain\tenter\tA\n")
                        .Data(kMaxPageNodes);
  std::map<std::string, std::string> group_of;
  for (const json& thread : data["threads"]) group_of[thread["name"]] = thread["group"];
  EXPECT_EQ(group_of["pool-1-thread-7"], "pool-*-thread-*");
  EXPECT_EQ(group_of["C2 CompilerThread0"], "C2 CompilerThread*");
  EXPECT_EQ(group_of["main"], "main");
}

TEST(PageDataTest, MethodsOfTheJdkAreMarked) {
  const json data = Profile(
                        "# jtrace-text 1 unit=ns\n"
                        "0\tmain\tnode\tcalls=1\tjava.util.List.add(Object)\tjavax.app.Main.run()\n"
                        "1\tmain\tsample\tC:com.sun.net.A.b()\tN:libc.so.6!java.\n")
                        .Data(kMaxPageNodes);
  std::map<std::string, char> owner_of;
  for (size_t i = 0; i < data["routines"].size(); ++i) {
    owner_of[data["routines"][i]] = data["owners"].get<std::string>()[i];
  }
  EXPECT_EQ(owner_of["java.util.List.add(Object)"], 'j');
  EXPECT_EQ(owner_of["com.sun.net.A.b()"], 'j');
  EXPECT_EQ(owner_of["javax.app.Main.run()"], '-');
  EXPECT_EQ(owner_of["java."], '-');
}

TEST(PageDataTest, ChainsThatAreApartAreListed) {
  const std::string trace =
      "# jtrace-text 1 unit=ns\n"
      "0\tmain\tenter\tA\n"
      "1\tmain\tsample\tC:A\tC:B\n"
      "2\tmain\texit\tA\n";
  EXPECT_FALSE(Profile(trace).Data(kMaxPageNodes)["nodes"].contains("apart"));
  const json nodes = Profile(trace, MergeMode::kNone).Data(kMaxPageNodes)["nodes"];
  EXPECT_EQ(nodes["level"], json({0, 1, 1, 2}));
  ASSERT_EQ(nodes["apart"].size(), 1);
  const size_t apart = nodes["apart"][0];
  EXPECT_EQ(nodes["level"][apart], 1);
  EXPECT_EQ(nodes["origin"].get<std::string>()[apart], 's');
}

TEST(PageDataTest, TheHeadlineHasRoutinesByNumber) {
  const json data =
      Profile(
          "# jtrace-text 1 unit=ns\n"
          "0\tmain\tnode\tcalls=1,base=10\tapp.A.run()\n"
          "0\tmain\tnode\tcalls=7,base=20\tapp.A.run()\tapp.B.step()\n"
          "0\tmain\tnode\tcalls=9,base=70\tapp.A.run()\tapp.B.step()\tjava.util.List.add(Object)\n")
          .Data(kMaxPageNodes);
  const json& headline = data["headline"];
  const auto name = [&](const json& routine) { return data["routines"][routine.get<size_t>()]; };
  EXPECT_EQ(headline["measure"], "time");
  EXPECT_EQ(headline["whole"], 100);
  ASSERT_EQ(headline["heaviest"].size(), 2);
  const json& heaviest = headline["heaviest"][0];
  EXPECT_EQ(name(heaviest["routine"]), "app.B.step()");
  EXPECT_EQ(heaviest["own"], 90);
  EXPECT_EQ(heaviest["calls"], 7);
  EXPECT_EQ(name(heaviest["callee"]), "java.util.List.add(Object)");
  EXPECT_EQ(heaviest["of_callee"], 70);
  ASSERT_EQ(heaviest["callers"].size(), 1);
  EXPECT_EQ(name(heaviest["callers"][0]), "app.A.run()");
  EXPECT_EQ(headline["heaviest"][1]["callee"], -1);
  EXPECT_EQ(name(headline["called"][0]["routine"]), "app.B.step()");
  EXPECT_TRUE(headline["allocates"].empty());
  EXPECT_EQ(headline["consumers"][0]["name"], "program");
  EXPECT_EQ(headline["consumers"][0]["amount"], 30);
  EXPECT_EQ(headline["consumers"][1]["parts"], json::parse(R"([["java.util", 70]])"));
}

// Of 100 bytes that C2 compiled 30 are of an inlined probe.
TEST(PageDataTest, TheHeadlineHasWhatTheProbesCostTheCompiler) {
  const json data =
      Profile(
          "# jtrace-text 1 unit=ns\n"
          "0\tmain\tsample*100\tapp.A.a()\n"
          "0\tC2 CompilerThre\tsample*200\tV:libjvm.so!Compile::Compile()\n"
          "0\t\tjit-load\tapp.A.a()\taddress=0x1000\tsize=90\tmethod=1\tlevel=4\tbytecodes=70\n"
          "0\t\tjit-inlining\tapp.A.a()\taddress=0x1000\tsize=0\tmethod=1\t@57\t"
          "2/30 java.lang.invoke.JTraceProbe.enter(int)\t13/70 app.A.a()\n")
          .Data(kMaxPageNodes);
  EXPECT_EQ(data["headline"]["whole"], 300);
  EXPECT_EQ(data["headline"]["probe_compilation"], 60);
}

// By node: the ticks of all buckets.
std::vector<int64_t> TicksByNode(const json& times, size_t nodes) {
  std::vector<int64_t> ticks(nodes);
  size_t node = 0;
  for (size_t i = 0; i < times["node"].size(); ++i) {
    node += times["node"][i].get<size_t>();
    EXPECT_LT(times["bucket"][i], times["count"]);
    ticks[node] = WrapAdd(ticks[node], times["ticks"][i].get<int64_t>());
  }
  return ticks;
}

TEST(PageDataTest, TicksOverTimeAreThoseOfTheNodes) {
  size_t with_times = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Profile profile(testing::RandomTextTrace(seed));
    for (const size_t limit : {kMaxPageNodes, size_t{20}, size_t{5}}) {
      const json data = profile.Data(limit);
      if (!data.contains("times")) continue;
      ++with_times;
      const json& nodes = data["nodes"];
      EXPECT_EQ(Sum(data["heat"]["ticks"]), Sum(nodes["base_ticks"]));
      EXPECT_EQ(TicksByNode(data["times"], nodes["level"].size()),
                nodes["base_ticks"].get<std::vector<int64_t>>())
          << seed << " " << limit;
    }
  }
  EXPECT_GT(with_times, 50);
}

std::string Times(Profile& profile, const PageTimeLimits& limits) {
  std::string text;
  JsonWriter json_writer(text);
  json_writer.BeginObject();
  WritePageTimes(profile.Input(), PageTree(profile.Input(), kMaxPageNodes), limits, json_writer);
  json_writer.EndObject();
  return json::parse(text)["times"].dump();
}

TEST(PageDataTest, SamplesAreInTheBucketOfTheirTime) {
  std::string trace = "# jtrace-text 1 unit=ns\n0\tmain\tclass-load\tA\n";
  for (const int time : {0, 9'999, 10'000, 10'001, 499'999, 500'000, 999'999}) {
    trace += StrCat(time, "\tmain\tsample*", time + 1, "\tC:A\n");
  }
  Profile profile(trace);
  const json data = profile.Data(kMaxPageNodes);
  // 977 buckets of the timeline, of 1,024 ns, are 51 columns of 20 µs.
  EXPECT_EQ(data["heat"]["width"], 400);
  EXPECT_EQ(data["heat"]["ticks"].size(), 2502);
  EXPECT_EQ(data["heat"]["ticks"][25], 20'003);
  EXPECT_EQ(data["times"]["cells"], 1);
  EXPECT_EQ(data["times"]["count"], 2502);
  EXPECT_EQ(data["times"]["bucket"], json::parse("[0, 24, 25, 1249, 1250, 2499]"));
  EXPECT_EQ(data["times"]["ticks"], json::parse("[1, 10000, 20003, 500000, 500001, 1000000]"));
  // Buckets become wider, but few of them only where there is no other way.
  EXPECT_EQ(Times(profile, {5, 9}),
            R"({"bucket":[0,12,624,625,1249],"cells":2,"count":1251,"node":[1,0,0,0,0],)"
            R"("ticks":[1,30003,500000,500001,1000000]})");
  EXPECT_EQ(Times(profile, {2, 4}), R"({"bucket":[0,24,25,49],"cells":50,"count":51,)"
                                    R"("node":[1,0,0,0],"ticks":[30004,500000,500001,1000000]})");
  EXPECT_EQ(Times(profile, {2, 2}), R"({"bucket":[0,1],"cells":1600,"count":2,"node":[1,0],)"
                                    R"("ticks":[1030005,1000000]})");
}

TEST(PageDataTest, InvalidUtf8InNamesIsReplaced) {
  Profile profile("# jtrace-text 1 unit=ns\n0\tmain\tenter\ta\xff\"</script>\n");
  EXPECT_EQ(profile.Data(kMaxPageNodes)["routines"][0], "a\uFFFD\"</script>");
}

}  // namespace
}  // namespace jtrace::postproc
