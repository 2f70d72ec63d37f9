// jtrace fleet --engine=: what it hands to spark-submit, which is a script here, and what it reads.
#include "postproc/cli/fleet_spark.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "postproc/cli/fleet_command.h"

namespace jtrace::control {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A folder of Spark whose spark-submit runs these commands; $dir is the folder of the request.
fs::path FakeSpark(const std::string& name, const std::string& commands) {
  const fs::path spark = fs::path(::testing::TempDir()) / name;
  fs::create_directories(spark / "bin");
  const fs::path submit = spark / "bin/spark-submit";
  std::ofstream(submit) << "#!/bin/sh\nfor dir; do :; done\n" << commands;
  fs::permissions(submit, fs::perms::owner_all);
  return spark;
}

std::string DataFolder() {
  const fs::path data = fs::path(::testing::TempDir()) / "spark-data";
  fs::create_directories(data / "runs/service=a/day=b/host=c");
  std::ofstream(data / "runs/service=a/day=b/host=c/x.parquet") << "x";
  return data.string();
}

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

Outcome Fleet(const std::string& query, std::vector<std::string> options) {
  CommandLine line;
  line.verb = "fleet";
  line.target = query;
  line.rest = {"--data=" + DataFolder()};
  line.rest.insert(line.rest.end(), options.begin(), options.end());
  std::ostringstream out;
  std::ostringstream err;
  const int code = RunFleet(line, out, err);
  return {code, out.str(), err.str()};
}

std::string TextIn(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(FleetSparkTest, TheAnswersOfSparkAreShown) {
  const fs::path kept = fs::path(::testing::TempDir()) / "request.json";
  const fs::path spark = FakeSpark(
      "spark-answers",
      "echo \"$@\" >" + kept.string() + ".args; echo \"$SPARK_HOME\" >>" + kept.string() +
          ".args\ncp \"$dir/request.json\" " + kept.string() +
          "\necho '{\"columns\": [\"routine\", \"calls\", \"base_ns\", \"part\"], \"rows\": "
          "[[\"a.A.run()\", 9007199254740993, null, 0.1]]}' >\"$dir/0.json\"\n");
  const Outcome outcome = Fleet("flat", {"--engine=spark://h:7077", "--spark=" + spark.string()});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "routine,calls,base_ns,part\na.A.run(),9007199254740993,,0.10000000000000001\n");
  EXPECT_THAT(TextIn(kept), AllOf(HasSubstr("CREATE TEMPORARY VIEW arcs AS"), HasSubstr("params")));
  const std::string arguments = TextIn(kept.string() + ".args");
  EXPECT_THAT(arguments, AllOf(HasSubstr("--master spark://h:7077 "), HasSubstr("/ask.py "),
                               HasSubstr("\n" + spark.string() + "\n")));
  // Nothing stays.
  const std::string folder = arguments.substr(arguments.find("/ask.py ") + 8);
  EXPECT_FALSE(fs::exists(folder.substr(0, folder.find('\n'))));
}

TEST(FleetSparkTest, AFailureIsOneLineThatNamesTheLog) {
  const fs::path spark = FakeSpark("spark-fails",
                                   "echo 'INFO starting'\n"
                                   "echo 'org.apache.spark.SparkException: no master'\n"
                                   "echo '\tat org.apache.spark.Exception.x(Y.java)'\nexit 3\n");
  const Outcome outcome = Fleet("top", {"--engine=local[2]", "--spark=" + spark.string()});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("jtrace: Spark: org.apache.spark.SparkException: no master; "
                                     "all that it said: /"));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1);
  const std::string log = outcome.err.substr(outcome.err.rfind(' ') + 1);
  EXPECT_THAT(TextIn(log.substr(0, log.size() - 1)), HasSubstr("INFO starting"));
  fs::remove_all(fs::path(log).parent_path());
}

TEST(FleetSparkTest, WithoutSparkOneLineNamesTheRemedy) {
  ::unsetenv("SPARK_HOME");
  EXPECT_THAT(Fleet("top", {"--engine=yarn"}).err,
              AllOf(HasSubstr("--spark=DIR or SPARK_HOME"), HasSubstr("scripts/fleet.sh spark")));
  EXPECT_THAT(Fleet("top", {"--engine=yarn", "--spark=/nowhere"}).err,
              HasSubstr("there is no /nowhere/bin/spark-submit"));
  // In the current folder anybody may have put one.
  const fs::path before = fs::current_path();
  fs::current_path(FakeSpark("relative", "exit 1\n").parent_path());
  ::setenv("SPARK_HOME", "relative", 1);
  EXPECT_THAT(Fleet("top", {"--engine=yarn"}).err,
              HasSubstr("there is no relative/bin/spark-submit"));
  ::unsetenv("SPARK_HOME");
  fs::current_path(before);
  EXPECT_THAT(Fleet("top", {"--engine=spak://h"}).err,
              HasSubstr("neither duckdb nor a master of Spark"));
}

TEST(FleetSparkTest, IncompleteAnswersAreErrors) {
  for (const char* text :
       {"", "{", "[]", R"({"columns": [1], "rows": []})", R"({"columns": ["a"]})",
        R"({"columns": ["a"], "rows": [[1, 2]]})", R"({"columns": ["a"], "rows": [[[1]]]})"}) {
    EXPECT_FALSE(ReadSparkAnswer(text).ok()) << text;
  }
  const auto answer = ReadSparkAnswer(R"({"columns": ["a"], "rows": [[true], [null], [-5]]})");
  ASSERT_TRUE(answer.ok());
  using postproc::duckdb::Value;
  EXPECT_THAT(answer->rows, ElementsAre(ElementsAre(Value(true)), ElementsAre(Value()),
                                        ElementsAre(Value(int64_t{-5}))));
}

}  // namespace
}  // namespace jtrace::control
