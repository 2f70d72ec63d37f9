// source, coverage, never, of counters in a trace: bytecode, self time, classes that were never
// loaded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "native-tests/support/counted_class.h"
#include "native-tests/support/csv.h"
#include "native-tests/support/run_post.h"

namespace jtrace {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ParseCsv;
using testing::RunPost;
using testing::RunResult;

// static void m(): in line 10 `if (0 == 0) nop`, of ten calls four do not jump; in line 12 return.
// One sample interrupted the ifeq (of 3 ticks), one the return; one is in native code.
std::string Trace(const std::vector<std::pair<uint16_t, uint16_t>>& lines) {
  test::ClassBuilder builder("a/B");
  const std::string hex = testing::InHex(
      builder.ClassAttribute("SourceFile", test::BytesOf().U2(builder.Utf8("B.java")))
          .Add(testing::IfMethod(lines))
          .Build());
  return "# jtrace-text 1 unit=ms\n#@\tsession\tinterval_ns\t1000000\n"
         "0\t\tclass-code\tcode=1\ta.B\t" +
         hex +
         "\n"
         "0\t\tblocks\tcode=1\tmethod=0\ta.B.m()\tcalls=10\tb4=4\n"
         "0\tmain\tnode\tcalls=1\ta.Main.main()\n"
         "0\tmain\tnode\tcalls=10\ta.Main.main()\ta.B.m()\n"
         "0\tmain\tnode\tcalls=4\ta.Main.main()\ta.B.m()\ta.C.hot()\n"
         "1\tmain\tplace\t1\n"
         "1\tmain\tsample-at*3\t2\ta.Main.main()\ta.B.m()\tJ:a.Main.main()\tC:a.B.m()\n"
         "2\tmain\tplace\t5\n"
         "2\tmain\tsample-at\t2\ta.Main.main()\ta.B.m()\tJ:a.Main.main()\tC:a.B.m()\n"
         "3\tmain\tsample-at\t2\ta.Main.main()\ta.B.m()\tJ:a.Main.main()\tC:a.B.m()\tN:libc!"
         "memcpy\n";
}

const std::vector<std::pair<uint16_t, uint16_t>> kLines = {{0, 10}, {5, 12}};

std::string Post(const std::string& trace, std::vector<std::string> args) {
  args.emplace_back("trace");
  const RunResult result = RunPost(args, {{"trace", trace}});
  return result.exit_code == 0 ? result.out : "error: " + result.err;
}

class CountedSourceTest : public ::testing::Test {
 protected:
  CountedSourceTest()
      : folder_(fs::path(::testing::TempDir()) /
                ("counted" +
                 std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "a");
    std::ofstream source(folder_ / "a/B.java");
    for (int i = 1; i <= 12; ++i) source << "line " << i << "\n";
  }
  ~CountedSourceTest() override { fs::remove_all(folder_); }

  std::string Source() const { return "--source=" + folder_.string(); }
  // A class file in the folder.
  void PutClass(const std::string& name) const {
    test::ClassBuilder builder(name);
    const test::ByteVector bytes = builder.Add(testing::IfMethod({{0, 3}, {5, 4}})).Build();
    std::ofstream(folder_ / (name + ".class"), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }

  const fs::path folder_;
};

TEST_F(CountedSourceTest, BytecodeIsBelowItsLine) {
  const std::string text =
      Post(Trace(kLines), {"--report=source", Source(), "--bytecode", "--of=a.B", "--width=0"});
  EXPECT_THAT(text, HasSubstr("   10 3.00 ms  75.0 % +   10  line 10"));
  EXPECT_THAT(text, HasSubstr("   10                               0: iconst_0\n"
                              "   10 3.00 ms  75.0 %               1: ifeq          5  2/2\n"
                              "    4                               4: nop\n"));
  EXPECT_THAT(text, HasSubstr("   10 1.00 ms  25.0 % |   12  line 12\n"
                              "   10 1.00 ms  25.0 %               5: return\n"));
  EXPECT_THAT(Post(Trace(kLines), {"--report=source", Source()}), Not(HasSubstr("iconst_0")));
}

TEST_F(CountedSourceTest, CommentsHaveSelfTimeCallersAndHottestCallees) {
  const std::string text = Post(Trace(kLines), {"--report=source", Source(), "--width=0"});
  EXPECT_THAT(text, HasSubstr("count    self percent   line  source\n"));
  EXPECT_THAT(text,
              HasSubstr("*       a.B.m(): 10 calls, 34 instructions, 40 cycles, self 4.00 ms, "
                        "total 5.00 ms; called by a.Main.main() 10\n"));
  EXPECT_THAT(text, HasSubstr("*         calls memcpy (1.00 ms), a.C.hot() 4\n"));
}

TEST_F(CountedSourceTest, BytecodeStandsInForASourceThatIsNotFound) {
  EXPECT_THAT(Post(Trace(kLines), {"--report=source", "--of=a.B"}), HasSubstr("0: iconst_0\n"));
  EXPECT_THAT(Post(Trace(kLines), {"--report=source", "--source=" + (folder_ / "a").string()}),
              HasSubstr("0: iconst_0\n"));
  // But not for a whole program without any.
  EXPECT_THAT(Post(Trace(kLines), {"--report=source"}), Not(HasSubstr("iconst_0")));
}

TEST_F(CountedSourceTest, MethodsWithoutLinesHaveBytecode) {
  const std::string text = Post(Trace({}), {"--report=source", "--bytecode", "--width=0"});
  EXPECT_THAT(text, HasSubstr("; without a line:\n"));
  EXPECT_THAT(text, HasSubstr("5: return\n"));
}

TEST_F(CountedSourceTest, MetricsOfLinesAreColumns) {
  const std::string cycles = Post(
      Trace(kLines), {"--report=source", Source(), "--metric=cycles", "--bytecode", "--width=0"});
  EXPECT_THAT(cycles, HasSubstr("count cycles percent   line  source\n"));
  EXPECT_THAT(cycles, HasSubstr("   10     20  50.0 % +   10  line 10"));
  EXPECT_THAT(cycles, HasSubstr("   10     20  50.0 % |   12  line 12\n"));
  EXPECT_THAT(Post(Trace(kLines), {"--report=source", Source(), "--metric=bytecodes"}),
              HasSubstr("   10        24  70.6 % +   10  line 10"));
  EXPECT_THAT(Post(Trace(kLines), {"--report=source", "--metric=allocs"}),
              HasSubstr("--metric: no metric 'allocs' in the trace"));
  // Others are those of methods.
  const std::string calls = Post(Trace(kLines), {"--report=source", "--metric=calls"});
  EXPECT_THAT(calls, HasSubstr("count percent   line  source\n"));
}

TEST_F(CountedSourceTest, CsvHasInstructionsAsRows) {
  const auto csv =
      ParseCsv(Post(Trace(kLines), {"--report=source", Source(), "--bytecode", "--format=csv"}));
  ASSERT_EQ(csv.rows.size(), 12u + 4);
  EXPECT_EQ(csv.header.back(), "percent");
  EXPECT_EQ(csv.rows[9], (testing::CsvRow{"10", "+", "10", "line 10", "a/B.java", "2", "2", "10 4",
                                          "3", "", "75.00"}));
  EXPECT_EQ(csv.rows[11], (testing::CsvRow{"10", " ", "10", "ifeq          5", "a/B.java", "2", "2",
                                           "", "3", "1", "75.00"}));
}

// A dump has the places of samples, and so the same lines.
TEST_F(CountedSourceTest, DumpsKeepThePlaces) {
  const std::string dump = Post(Trace(kLines), {"--report=dump"});
  EXPECT_THAT(dump, HasSubstr("1\tmain\tplace\t1\n1\tmain\tsample-at*3\t"));
  EXPECT_EQ(Post(dump, {"--report=source"}), Post(Trace(kLines), {"--report=source"}));
  const std::string malformed = "# jtrace-text 1 unit=us\n0\tmain\tplace\tx\n";
  EXPECT_THAT(Post(malformed, {"--report=summary"}), HasSubstr("1 malformed line, skipped"));
}

TEST_F(CountedSourceTest, ClassesThatWereNeverLoadedCount) {
  PutClass("a/B");
  PutClass("a/D");
  const std::string classes = "--classes=" + folder_.string();
  EXPECT_THAT(Post(Trace(kLines), {"--report=coverage"}),
              HasSubstr("2 of 2 lines ran (100.0 %); 1 of 1 method ran\n"));
  EXPECT_THAT(Post(Trace(kLines), {"--report=coverage", classes}),
              HasSubstr("2 of 4 lines ran (50.0 %); 1 of 2 methods ran\n"
                        "1 of the methods is of 1 class that was never loaded\n"));
  EXPECT_THAT(Post(Trace(kLines), {"--report=source", classes, "--of=a.D"}),
              HasSubstr("*       a.D.m(): class never loaded\n    0 #    3"));
  EXPECT_THAT(Post(Trace(kLines), {"--report=lcov", classes}),
              HasSubstr("SF:a/D.java\nFN:3,a.D.m()\nFNDA:0,a.D.m()\nFNF:1\nFNH:0\n"));
  EXPECT_THAT(Post(Trace(kLines), {"--report=jacoco", classes}), HasSubstr("<class name=\"a/D\""));
  EXPECT_THAT(Post(Trace(kLines), {"--report=cobertura", classes}), HasSubstr("name=\"a.D\""));
}

TEST_F(CountedSourceTest, NeverKnowsThemWithoutCountsOfLines) {
  PutClass("a/D");
  const std::string classes = "--classes=" + folder_.string();
  const std::string trace =
      "# jtrace-text 1 "
      "unit=us\n#@\tscope\ta.B.m()\n#@\tscope\ta.B.n()\n0\tmain\tnode\tcalls=1\ta.B.m()\n";
  const std::string text = Post(trace, {"--report=never", classes});
  EXPECT_THAT(text, HasSubstr("2 of 3 methods in scope never ran (66.7 %)\n"
                              "1 of these in classes that were never loaded\n"));
  EXPECT_THAT(text, HasSubstr("\na.D  1 of 1, never loaded\n    m()\n"));
  EXPECT_EQ(Post(trace, {"--report=never", classes, "--format=csv"}),
            "class,name,loaded\na.B,a.B.n(),1\na.D,a.D.m(),0\n");
  EXPECT_THAT(Post(trace, {"--report=coverage", classes}), HasSubstr("record with blocks=on"));
}

TEST_F(CountedSourceTest, OptionsThatAReportCannotHonourAreRefused) {
  EXPECT_THAT(Post(Trace(kLines), {"--report=flat", "--classes=x"}),
              HasSubstr("--classes needs --report="));
  EXPECT_THAT(Post(Trace(kLines), {"--report=lines", "--bytecode"}),
              HasSubstr("--bytecode needs --report=source"));
  EXPECT_THAT(Post(Trace(kLines), {"--report=never", "--classes="}), HasSubstr("--classes: no "));
  EXPECT_THAT(Post(Trace(kLines), {"--report=never", "--classes=/none"}), HasSubstr("/none"));
}

}  // namespace
}  // namespace jtrace
