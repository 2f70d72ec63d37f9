#include "postproc/report/units.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "postproc/report/table.h"

namespace jtrace::postproc {
namespace {

TEST(UnitsTest, CountsHaveSeparators) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1000), "1,000");
  EXPECT_EQ(FormatCount(1234567), "1,234,567");
  EXPECT_EQ(FormatCount(-1000), "-1,000");
  EXPECT_EQ(FormatCount(-100), "-100");
  EXPECT_EQ(FormatCount(std::numeric_limits<int64_t>::min()), "-9,223,372,036,854,775,808");
}

TEST(UnitsTest, TimesHaveTheFittingUnit) {
  EXPECT_EQ(FormatNanoseconds(0), "0");
  EXPECT_EQ(FormatNanoseconds(7), "7 ns");
  EXPECT_EQ(FormatNanoseconds(1234), "1.23 µs");
  EXPECT_EQ(FormatNanoseconds(12345678), "12.3 ms");
  EXPECT_EQ(FormatNanoseconds(123456789), "123 ms");
  EXPECT_EQ(FormatNanoseconds(999999999), "1.00 s");
  EXPECT_EQ((Units{TimeUnit::kMilliseconds, 0}.Time(1500)), "1.50 s");
  EXPECT_EQ((Units{TimeUnit::kTicks, 0}.Time(1500)), "1,500");
  EXPECT_EQ((Units{TimeUnit::kNanoseconds, 1000000}.Ticks(1500)), "1.50 s");
}

TEST(TableTest, ShortensInTheMiddle) {
  EXPECT_EQ(Shorten("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(Shorten("abcdefghij", 7), "abc…hij");
  EXPECT_EQ(Shorten("äöüßäöü", 5), "äö…öü");
  EXPECT_EQ(Shorten("abc", 1), "…");
  EXPECT_EQ(DisplayWidth("äö…"), 3);
}

TEST(TableTest, CountsOfOneAreInTheSingular) {
  EXPECT_EQ(postproc::Counted(1, "thread"), "1 thread");
  EXPECT_EQ(postproc::Counted(1234, "thread"), "1,234 threads");
  EXPECT_EQ(postproc::Counted(2, "branch", "branches"), "2 branches");
  EXPECT_EQ(postproc::CountedText(1, "chunks missing"), "1 chunk missing");
  EXPECT_EQ(postproc::CountedText(2, "chunks missing"), "2 chunks missing");
  EXPECT_EQ(postproc::CountedText(1, "malformed lines, skipped"), "1 malformed line, skipped");
  EXPECT_EQ(postproc::CountedText(1, "bytes at the end belong to no whole frame"),
            "1 byte at the end belongs to no whole frame");
  EXPECT_EQ(postproc::CountedText(1, "class files of --classes cannot be read"),
            "1 class file of --classes cannot be read");
  EXPECT_EQ(postproc::CountedText(1, "classes in scope"), "1 class in scope");
  EXPECT_EQ(postproc::CountedText(1, "entries and exits"), "1 entry and exits");
  EXPECT_EQ(postproc::CountedText(1, "trace without its last record"),
            "1 trace without its last record");
}

TEST(TableTest, LinesBreakAtBlanks) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(WrapWords("ab cd ef", 5), Lines({"ab cd", "ef"}));
  EXPECT_EQ(WrapWords("ab cd ef", 8), Lines({"ab cd ef"}));
  EXPECT_EQ(WrapWords("äöü ß", 5), Lines({"äöü ß"}));
  EXPECT_EQ(WrapWords("a abcdefghij b", 5), Lines({"a", "abcdefghij", "b"}));
  EXPECT_EQ(WrapWords("ab cd ef", 0), Lines({"ab cd ef"}));
  EXPECT_EQ(WrapWords("", 5), Lines());
}

TEST(TableTest, PackagesAreShortenedBeforeParametersAndTheMiddle) {
  const std::string name = "org.h2.engine.SessionLocal.prepareCommand(String,int)";
  EXPECT_EQ(ShortenName(name, 60), name);
  EXPECT_EQ(ShortenName(name, 51), "o.h2.engine.SessionLocal.prepareCommand(String,int)");
  EXPECT_EQ(ShortenName(name, 45), "o.h.e.SessionLocal.prepareCommand(String,int)");
  EXPECT_EQ(ShortenName(name, 40), "o.h.e.SessionLocal.prepareCommand(…)");
  EXPECT_EQ(ShortenName(name, 20), "Se…al.prepareCommand");
  EXPECT_EQ(ShortenName("a\tb\x1b[31m", 60), "a\\x09b\\x1b[31m");
  EXPECT_EQ(ShortenName("a\nb", 0), "a\\x0ab");
  EXPECT_EQ(ShortenName("a.B.\u202E\u202E", 8), "\\u202e\\u202e") << "as wide as it is shown";
}

TEST(TableTest, CsvQuotesWhatNeedsIt) {
  Table table;
  table.columns = {{"a,b"}, {"n"}, {"p"}};
  table.rows = {{Cell::Text("x\"y"), Cell::Int(1234567), Cell::Percent(33.333)},
                {Cell::Text("line\nbreak"), Cell::Empty(), Cell::Percent(0)}};
  std::ostringstream out;
  WriteCsv(table, out);
  EXPECT_EQ(out.str(), "\"a,b\",n,p\n\"x\"\"y\",1234567,33.33\n\"line\nbreak\",,0.00\n");
}

TEST(TableTest, SpreadsheetsGetNoFormulas) {
  Table table;
  table.columns = {{"=a"}, {"n"}};
  for (const char* text : {"=1+1", "+1", "-1", "@SUM(1)", "\tx", "\rx", "\nx", "a=1", "", "'=1"}) {
    table.rows.push_back({Cell::Text(text), Cell::Int(-1)});
  }
  std::ostringstream guarded, as_it_is;
  WriteCsv(table, guarded, CsvText::kGuarded);
  EXPECT_EQ(guarded.str(),
            "'=a,n\n'=1+1,-1\n'+1,-1\n'-1,-1\n'@SUM(1),-1\n'\tx,-1\n\"'\rx\",-1\n\"'\nx\",-1\n"
            "a=1,-1\n,-1\n'=1,-1\n");
  WriteCsv(table, as_it_is);
  EXPECT_EQ(as_it_is.str(),
            "=a,n\n=1+1,-1\n+1,-1\n-1,-1\n@SUM(1),-1\n\tx,-1\n\"\rx\",-1\n\"\nx\",-1\n"
            "a=1,-1\n,-1\n'=1,-1\n");
}

}  // namespace
}  // namespace jtrace::postproc
