#include "postproc/fleet/queries.h"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "postproc/fleet/schema.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc::fleet {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(FleetQueriesTest, AllAreKnownByName) {
  std::set<std::string_view> names;
  for (const QueryText& query : AllQueries()) names.insert(query.name);
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("top", "flat", "tree", "arcs", "diff", "dead",
                                                     "hosts", "percentiles", "callers", "check",
                                                     "merged_nodes", "merged_samples"));
  EXPECT_THAT(std::string(FindQuery("top")), HasSubstr("FROM arcs"));
  EXPECT_EQ(FindQuery("nothing"), "");
}

TEST(FleetQueriesTest, ViewsHaveTheirFilesAndTheWantedRuns) {
  EXPECT_THAT(
      ViewsOf(Dialect::kDuckDb, kRuns, "/d", {}, false),
      ElementsAre("CREATE VIEW runs AS SELECT * FROM read_parquet('/d/runs/*/*/*/*.parquet', "
                  "hive_partitioning = true, union_by_name = true, hive_types = {'service': "
                  "VARCHAR, 'day': VARCHAR, 'host': VARCHAR})"));
  EXPECT_THAT(ViewsOf(Dialect::kDuckDb, kNodes, "/it's", {"shop", "", "h'1"}, false),
              ElementsAre(AllOf(HasSubstr("'/it''s/nodes/"),
                                HasSubstr(" WHERE service = 'shop' AND host = 'h''1'"),
                                Not(HasSubstr("day =")))));
}

TEST(FleetQueriesTest, SparkReadsOnlyWholeFiles) {
  EXPECT_THAT(ViewsOf(Dialect::kSpark, kNodes, "/it's", {"", "2026-01-01", "a\\b"}, false),
              ElementsAre("CREATE TEMPORARY VIEW nodes_files USING parquet OPTIONS (path "
                          "'file:///it\\'s/nodes', mergeSchema 'true', pathGlobFilter '*.parquet')",
                          "CREATE TEMPORARY VIEW nodes AS SELECT * FROM nodes_files WHERE day = "
                          "'2026-01-01' AND host = 'a\\\\b'"));
}

TEST(FleetQueriesTest, ATableWithoutFilesHasItsColumns) {
  for (const Dialect dialect : {Dialect::kDuckDb, Dialect::kSpark}) {
    const std::vector<std::string> views = ViewsOf(dialect, kLosses, "/d", {}, true);
    ASSERT_EQ(views.size(), 1U);
    for (const parquet::ColumnSpec& column : ColumnsOf(kLosses)) {
      EXPECT_THAT(views[0], HasSubstr(std::string(column.name)));
    }
    EXPECT_THAT(views[0], HasSubstr("WHERE false"));
    EXPECT_THAT(views[0], HasSubstr(dialect == Dialect::kSpark ? "STRING" : "VARCHAR"));
  }
}

TEST(FleetQueriesTest, ParamsAreQuoted) {
  QueryParams params;
  params.routine = "a.B.it's";
  EXPECT_THAT(ParamsView(Dialect::kDuckDb, params), HasSubstr("'a.B.it''s' AS routine"));
  EXPECT_THAT(ParamsView(Dialect::kSpark, params), HasSubstr("'a.B.it\\'s' AS routine"));
}

// Version 1 for good: n number, t text, b Boolean, ? may be null. A change here is wrong: files
// with these columns are everywhere. A column is added at the end of its table, with a new version,
// and with a list of its own beside this one.
constexpr std::string_view kVersion1[kTables] = {
    "run_id:n trace:t version:t? container:t? pid:n? start_ns:n? duration_ns:n? "
    "jvm:t? command:t? options:t? mode:t? record:t? clock:t? timer:t? "
    "interval_ns:n? agent_version:t? agent_cpu_ns:n? complete:b schema_version:n",
    "routine_id:n routine:t class:t? method:t descriptor:t? kind:t owner:t "
    "probed:b",
    "path_hi:n path_lo:n parent_hi:n? parent_lo:n? routine_id:n? depth:n level:n",
    "run_id:n thread_group:t path_hi:n path_lo:n calls:n calls_jitted:n base_ns:n? "
    "cum_ns:n? off_ns:n? base_ticks:n cum_ticks:n",
    "run_id:n caller_id:n? callee_id:n outermost:b calls:n calls_jitted:n "
    "base_ns:n? cum_ns:n? base_ticks:n cum_ticks:n",
    "run_id:n thread_group:t path_hi:n path_lo:n state:t function_id:n? module:t? "
    "blocker:t? samples:n ticks:n",
    "run_id:n thread_group:t thread:t tid:n? threads:n is_virtual:b is_daemon:b "
    "is_jvm:b calls:n samples:n ticks:n",
    "run_id:n thread_group:t path_hi:n path_lo:n metric:t unit:t value:n",
    "run_id:n class:t methods:n? loads:n unloads:n first_load_ns:n? source:t?",
    "run_id:n loss:t severity:t losses:n what:t advice:t?",
};

// What version 2 added.
constexpr std::string_view kAddedIn2[kTables] = {"", "", "", "", "", " labels:t?", "", "", "", ""};

std::string ShortType(const parquet::ColumnSpec& column) {
  const std::string_view type = column.type == parquet::Type::kText      ? "t"
                                : column.type == parquet::Type::kBoolean ? "b"
                                                                         : "n";
  return StrCat(column.name, ":", type, column.nullable ? "?" : "");
}

TEST(FleetSchemaTest, Version2HasItsColumns) {
  ASSERT_EQ(kSchemaVersion, 2);
  for (size_t i = 0; i < kTables; ++i) {
    std::string columns;
    for (const parquet::ColumnSpec& column : ColumnsOf(static_cast<TableId>(i))) {
      StrAppend(&columns, columns.empty() ? "" : " ", ShortType(column));
    }
    EXPECT_EQ(columns, StrCat(kVersion1[i], kAddedIn2[i]))
        << "a change of columns is a new version";
  }
}

// postproc/fleet/SCHEMA.md has a row for each column, with its type and whether it may be null.
TEST(FleetSchemaTest, EveryColumnIsDocumented) {
  std::ifstream in(JTRACE_SOURCE_DIR "/postproc/fleet/SCHEMA.md");
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  EXPECT_THAT(page, HasSubstr("version " + std::to_string(kSchemaVersion)));
  for (size_t i = 0; i < kTables; ++i) {
    const auto table = static_cast<TableId>(i);
    const std::string heading = "\n## " + std::string(TableName(table)) + "\n";
    const size_t begin = page.find(heading);
    ASSERT_NE(begin, std::string::npos) << heading;
    const std::string section = page.substr(begin, page.find("\n## ", begin + 1) - begin);
    size_t at = 0;
    for (const parquet::ColumnSpec& column : ColumnsOf(table)) {
      const std::string row = "| `" + std::string(column.name) + "` | " +
                              std::string(SqlType(column.type)) + " | " +
                              (column.nullable ? "yes" : "no") + " | ";
      const size_t found = section.find(row, at);
      ASSERT_NE(found, std::string::npos) << TableName(table) << ": " << row;
      at = found;
    }
    EXPECT_EQ(section.find("\n| `", at + 1), std::string::npos)
        << TableName(table) << " has no column after " << section.substr(at, 40);
  }
}

}  // namespace
}  // namespace jtrace::postproc::fleet
