// The figures' data: input trace → expected columns (native-tests/golden/README.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "native-tests/support/csv.h"
#include "native-tests/support/run_post.h"

namespace jtrace {
namespace {

using ::testing::ElementsAreArray;
using ::testing::UnorderedElementsAreArray;

struct GoldenCase {
  std::string expected;
  std::string trace;
  std::vector<std::string> args;
  enum { kInOrder, kAsSet, kAsSetWithoutRoot } rows = kInOrder;
};

// CTest has it in the test's name.
void PrintTo(const GoldenCase& golden, std::ostream* out) { *out << golden.expected; }

std::string GoldenPath(const std::string& name) {
  return std::string(JTRACE_SOURCE_DIR) + "/native-tests/golden/" + name;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

class GoldenTest : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(GoldenTest, EveryGivenColumnIsEqual) {
  std::vector<std::string> args = GetParam().args;
  args.push_back("--format=csv");
  args.push_back(GoldenPath(GetParam().trace + ".jtxt"));
  const testing::RunResult result = testing::RunPost(args);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  const testing::Csv expected =
      testing::ParseCsv(ReadFile(GoldenPath(GetParam().expected + ".csv")));
  ASSERT_FALSE(expected.rows.empty());
  auto actual = testing::ParseCsv(result.out).Project(expected.header);
  if (GetParam().rows == GoldenCase::kAsSetWithoutRoot) {
    // The figure lists only routines; in FORMATS the flat report also has the thread's root.
    ASSERT_EQ(std::erase_if(actual, [](const auto& row) { return row.back() == "main-thread"; }),
              1u);
  }
  if (GetParam().rows == GoldenCase::kInOrder) {
    EXPECT_THAT(actual, ElementsAreArray(expected.rows));
  } else {
    EXPECT_THAT(actual, UnorderedElementsAreArray(expected.rows));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Figures, GoldenTest,
    ::testing::Values(
        GoldenCase{"fig20", "fig18a", {"--report=tree", "--sort=first"}},
        GoldenCase{"fig26", "fig18a", {"--report=flat"}},
        GoldenCase{"fig27", "fig18a", {"--report=arcflow"}},
        GoldenCase{"fig18b", "fig18b", {"--report=tree"}},
        GoldenCase{"fig18c", "fig18c", {"--report=flat"}, GoldenCase::kAsSetWithoutRoot},
        GoldenCase{"fig18d", "fig18d", {"--report=flat"}, GoldenCase::kAsSetWithoutRoot},
        GoldenCase{"fig32", "fig32", {"--report=tree"}},
        GoldenCase{"table2", "table2", {"--report=flat"}, GoldenCase::kAsSet},
        GoldenCase{"blocks-tree", "blocks", {"--report=tree", "--metric=bytecodes"}},
        GoldenCase{"blocks-flat", "blocks", {"--report=flat", "--metric=bytecodes"}},
        GoldenCase{"blocks-arcflow", "blocks", {"--report=arcflow", "--metric=bytecodes"}},
        GoldenCase{"metrics-tree", "metrics", {"--report=tree", "--metric=alloc.bytes"}},
        GoldenCase{"metrics-hits", "metrics", {"--report=tree", "--metric=user.hits"}},
        GoldenCase{"metrics-flat", "metrics", {"--report=flat", "--metric=alloc.bytes"}},
        GoldenCase{"metrics-arcflow", "metrics", {"--report=arcflow", "--metric=alloc.bytes"}},
        GoldenCase{"metrics-paths", "metrics", {"--report=paths", "--metric=alloc.bytes"}},
        GoldenCase{
            "metrics-callees-B", "metrics", {"--report=callees", "--of=B", "--metric=alloc.bytes"}},
        GoldenCase{
            "metrics-callers-A", "metrics", {"--report=callers", "--of=A", "--metric=alloc.bytes"}},
        GoldenCase{"metrics-function-B",
                   "metrics",
                   {"--report=function", "--of=B", "--metric=alloc.bytes"}},
        GoldenCase{"metrics-functions", "metrics", {"--report=functions", "--metric=alloc.bytes"}},
        GoldenCase{"metrics-routines", "metrics", {"--report=metrics", "--metric=alloc.bytes"}},
        GoldenCase{"metrics-threads", "metrics", {"--report=threads", "--metric=alloc.bytes"}},
        GoldenCase{"hooks", "hooks", {"--report=hooks"}},
        GoldenCase{"hooks-tree", "hooks", {"--report=tree"}},
        GoldenCase{"hooks-flat", "hooks", {"--report=flat"}},
        GoldenCase{"callstack-table1", "callstack-table1", {"--report=functions"}},
        GoldenCase{"callstack-table2", "callstack-table1", {"--report=modules"}},
        GoldenCase{"callstack-functions", "callstack-table3", {"--report=functions"}},
        GoldenCase{"callstack-paths", "callstack-table3", {"--report=paths"}},
        GoldenCase{"callstack-callees-A2", "callstack-table3", {"--report=callees", "--of=A2"}},
        GoldenCase{"callstack-callers-A2", "callstack-table3", {"--report=callers", "--of=A2"}},
        GoldenCase{"callstack-app-paths", "callstack-table3", {"--report=paths", "--scope=app"}}),
    [](const auto& info) {
      std::string name = info.param.expected;
      std::erase(name, '-');
      return name;
    });

}  // namespace
}  // namespace jtrace
