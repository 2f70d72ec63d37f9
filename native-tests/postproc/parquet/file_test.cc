#include "postproc/parquet/file.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "native-tests/postproc/parquet/random_table.h"
#include "native-tests/support/parquet_reader.h"
#include "postproc/parquet/hybrid.h"
#include "postproc/parquet/thrift.h"

namespace jtrace::postproc::parquet {
namespace {

using ::jtrace::testing::MakeRandomTable;
using ::jtrace::testing::ParquetColumn;
using ::jtrace::testing::ParquetFile;
using ::jtrace::testing::ParquetValue;
using ::jtrace::testing::RandomTable;
using ::jtrace::testing::ReadParquet;
using ::testing::ElementsAre;

ParquetFile Written(const Table& table, const PageLimits& limits = {}) {
  const auto bytes = EncodeFile(table, {{"key", "value"}}, "test", limits);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return ReadParquet(*bytes);
}

// Whatever the values are: the small limit makes several pages, of incomplete groups too.
TEST(ParquetFileTest, EveryTableReadsBack) {
  for (uint32_t seed = 1; seed <= 120; ++seed) {
    const size_t rows = seed % 40 < 20 ? seed % 40 : seed * 13;
    const RandomTable random = MakeRandomTable(seed, rows);
    PageLimits limits;
    limits.rows_in_page = seed % 3 == 0 ? 1 << 16 : 1 + seed % 30;
    const ParquetFile file = Written(random.table, limits);
    ASSERT_EQ(file.rows, static_cast<int64_t>(rows));
    ASSERT_EQ(file.columns.size(), random.expected.size());
    if (rows == 0) continue;
    for (size_t i = 0; i < file.columns.size(); ++i) {
      ASSERT_EQ(file.columns[i].values, random.expected[i])
          << "seed " << seed << " column " << file.columns[i].name;
    }
  }
}

TEST(ParquetFileTest, RepeatedValuesHaveADictionaryAndOthersHaveNone) {
  Table table(std::vector<ColumnSpec>{
      {"same", Type::kInt64}, {"different", Type::kInt64}, {"text", Type::kText}});
  for (int64_t i = 0; i < 1000; ++i) {
    table[0].Add(7);
    table[1].Add(i * 1'000'003);
    table[2].AddText(i % 2 == 0 ? "even" : "odd");
  }
  const ParquetFile file = Written(table);
  EXPECT_TRUE(file["same"].has_dictionary);
  EXPECT_FALSE(file["different"].has_dictionary);
  EXPECT_TRUE(file["text"].has_dictionary);
  EXPECT_TRUE(file["text"].is_text);
  EXPECT_FALSE(file["same"].is_text);
}

// Each of many numbers stands in a few neighbouring rows: packed indexes would not compress.
TEST(ParquetFileTest, NumbersThatRepeatNearbyHaveNoDictionary) {
  Table table(std::vector<ColumnSpec>{{"hash", Type::kInt64}});
  std::vector<ParquetValue> expected;
  for (uint64_t i = 0; i < 40'000; ++i) {
    const auto hash = static_cast<int64_t>((i / 8 + 1) * 0x9E3779B97F4A7C15U);
    table[0].Add(hash);
    expected.emplace_back(hash);
  }
  const ParquetFile file = Written(table);
  EXPECT_FALSE(file["hash"].has_dictionary);
  EXPECT_EQ(file["hash"].values, expected);
}

TEST(ParquetFileTest, GroupedRowsKeepTheirValuesAndOrder) {
  Table table(std::vector<ColumnSpec>{
      {"run", Type::kInt64}, {"path", Type::kInt64, true}, {"name", Type::kText}});
  for (const auto& [run, path, name] : std::vector<std::tuple<int64_t, int64_t, std::string>>{
           {1, 70, "a"}, {1, 30, "b"}, {1, 0, "c"}, {2, 30, "d"}, {2, 0, "e"}, {2, 70, "f"}}) {
    table[0].Add(run);
    table[1].AddMaybe(path == 0 ? std::nullopt : std::optional(path));
    table[2].AddText(name);
  }
  const std::string_view by[] = {"path"};
  table.GroupRows(by);
  const ParquetFile file = Written(table);
  EXPECT_EQ(file["name"].values, (std::vector<ParquetValue>{"a", "f", "b", "d", "c", "e"}));
  EXPECT_EQ(file["run"].values, (std::vector<ParquetValue>{int64_t{1}, int64_t{2}, int64_t{1},
                                                           int64_t{2}, int64_t{1}, int64_t{2}}));
  EXPECT_EQ(file["path"].nulls, 2);
}

TEST(ParquetFileTest, PagesHaveAtMostTheLimitOfRows) {
  Table table(std::vector<ColumnSpec>{{"n", Type::kInt64}});
  for (int64_t i = 0; i < 25; ++i) table[0].Add(i);
  PageLimits limits;
  limits.rows_in_page = 10;
  EXPECT_EQ(Written(table, limits)["n"].data_pages, 3);
}

TEST(ParquetFileTest, ExtremesAreSignedAndNullsAreCounted) {
  Table table(std::vector<ColumnSpec>{{"n", Type::kInt64, true}, {"t", Type::kText}});
  for (const int64_t n : {5, -3, 0}) {
    table[0].Add(n);
    table[1].AddText("x");
  }
  table[0].AddNull();
  table[1].AddText("y");
  const ParquetFile file = Written(table);
  EXPECT_EQ(file["n"].nulls, 1);
  EXPECT_EQ(file["n"].least, std::string("\xFD\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 8));
  EXPECT_EQ(file["n"].greatest, std::string("\x05\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(file["t"].least, "");
}

TEST(ParquetFileTest, TextThatIsNotUtf8IsMarked) {
  Table table(std::vector<ColumnSpec>{{"t", Type::kText}});
  table[0].AddText("a\xFFz");
  EXPECT_THAT(Written(table)["t"].values, ElementsAre(ParquetValue("a\xEF\xBF\xBDz")));
}

TEST(ParquetFileTest, NotesAreInTheFooter) {
  EXPECT_EQ(Written(Table(std::vector<ColumnSpec>{{"n", Type::kInt64}})).notes.at("key"), "value");
}

TEST(ParquetFileTest, AColumnWithFewerValuesIsAnError) {
  Table table(std::vector<ColumnSpec>{{"a", Type::kInt64}, {"b", Type::kInt64}});
  table[0].Add(1);
  const auto bytes = EncodeFile(table, {}, "test");
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.status().message(), "column b has 0 values for 1 rows");
}

TEST(HybridTest, RunsAreShortAndOthersArePacked) {
  std::string out;
  AppendHybrid(std::vector<uint32_t>(20, 3), 2, out);
  EXPECT_EQ(out, std::string("\x28\x03", 2));  // 20 << 1, the value
  out.clear();
  AppendHybrid(std::vector<uint32_t>{0, 1, 2, 3, 4, 5, 6, 7}, 3, out);
  EXPECT_EQ(out, "\x03\x88\xC6\xFA");  // the example of Parquet's description
}

TEST(HybridTest, WidthOfTheGreatest) {
  EXPECT_EQ(BitWidth(0), 0);
  EXPECT_EQ(BitWidth(1), 1);
  EXPECT_EQ(BitWidth(8), 4);
  EXPECT_EQ(BitWidth(UINT32_MAX), 32);
}

TEST(ThriftTest, FieldsListsAndNumbers) {
  std::string out;
  ThriftWriter thrift(out);
  thrift.Int(1, -1);
  thrift.Wide(17, 300);
  thrift.Binary(18, "ab");
  thrift.Texts(19, {"x"});
  thrift.End();
  EXPECT_EQ(out, std::string("\x15\x01\x06\x22\xD8\x04\x18\x02"
                             "ab\x19\x18\x01x\0",
                             15));
}

}  // namespace
}  // namespace jtrace::postproc::parquet
