#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "native-tests/support/run_post.h"
#include "native-tests/support/trace_builder.h"

namespace jtrace {
namespace {

using testing::CsvRow;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TraceBuilder;

// run calls add (inlined in run's last code), mul (not inlined) and rare (never compiled); cold,
// which was never compiled, calls add too.
class JitReportTest : public ::testing::Test {
 protected:
  JitReportTest() {
    builder_.Thread("main", 1);
    const uint32_t owner = builder_.Class("A");
    for (const char* name : {"run", "add", "mul", "rare", "cold"}) {
      routines_.push_back(builder_.Routine(owner, name, "()V"));
      methods_.push_back(builder_.Method(owner, name, "()V"));
    }
    const uint32_t run = Node(0, 0, 10, 10);
    Node(run, 1, 6000, 5990);
    Node(run, 2, 3000, 2990);
    Node(run, 3, 1, 0);
    Node(Node(0, 4, 1, 0), 1, 999, 0);
    Load(0, 0x1000, 100);
    Inlining(0, 0x1000, {2});
    Load(0, 0x2000, 400);
    Inlining(0, 0x2000, {1});
    Load(1, 0x3000, 50);
    Load(2, 0x4000, 7000);
    Event(2, 0x4000, format::kJitCode | format::kEnd);
  }

  uint32_t Node(uint32_t parent, size_t method, uint64_t calls, uint64_t jitted) {
    const uint32_t node = builder_.Node(1, parent, routines_[method]);
    builder_.Count(1, node, calls, jitted);
    return node;
  }
  proto::CodeEvent& Event(size_t method, uint64_t address, uint32_t minor) {
    proto::CodeEvent& code = *builder_.Event(++time_, 0, format::kJit, minor).mutable_code_event();
    code.set_method(methods_[method]);
    code.set_address(address);
    return code;
  }
  proto::CodeEvent& Load(size_t method, uint64_t address, uint64_t size) {
    proto::CodeEvent& code = Event(method, address, format::kJitCode);
    code.set_size(size);
    return code;
  }
  std::vector<CsvRow> MethodRows(const std::string& trace, const std::string& kind) {
    std::vector<CsvRow> rows;
    for (const CsvRow& row : testing::Rows(
             trace, "jit",
             {"row", "name", "tier", "compiled", "c1", "c2", "osr", "again", "discarded"})) {
      if (row[0] == kind) rows.emplace_back(row.begin() + 1, row.end());
    }
    return rows;
  }
  void Inlining(size_t method, uint64_t address, const std::vector<size_t>& callees) {
    proto::CodeEvent& code = Event(method, address, format::kJitInlining);
    for (const size_t callee : callees) {
      code.add_pc(16);
      code.add_depth(2);
      code.add_inlined(methods_[callee]);
      code.add_bci(3);
      code.add_inlined(methods_[method]);
      code.add_bci(7);
    }
  }

  TraceBuilder builder_;
  std::vector<uint32_t> routines_;
  std::vector<uint32_t> methods_;
  uint64_t time_ = 0;
};

TEST_F(JitReportTest, ShowsWhatWasInlinedInTheLastCode) {
  const std::string trace = builder_.Finish();
  EXPECT_THAT(
      testing::Rows(trace, "jit",
                    {"row", "caller", "name", "calls", "calls_jitted", "status", "inlined_bodies",
                     "bodies", "compiled", "dropped", "size"}),
      ElementsAre(
          CsvRow{"arc", "A.run()", "A.add()", "6000", "5990", "inlined", "1", "1", "1", "0", "50"},
          CsvRow{"arc", "A.run()", "A.mul()", "3000", "2990", "not inlined", "0", "1", "1", "1",
                 "7000"},
          CsvRow{"arc", "A.cold()", "A.add()", "999", "0", "caller not compiled", "0", "0", "1",
                 "0", "50"},
          CsvRow{"arc", "A.run()", "A.rare()", "1", "0", "not inlined", "0", "1", "0", "0", "0"},
          CsvRow{"method", "", "A.run()", "10", "", "", "", "", "2", "0", "400"},
          CsvRow{"method", "", "A.mul()", "3000", "", "", "", "", "1", "1", "7000"},
          CsvRow{"method", "", "A.add()", "6999", "", "", "", "", "1", "0", "50"}));
  const std::string dump = testing::RunPost({"dump", "t"}, {{"t", trace}}).out;
  EXPECT_EQ(testing::ReportCsv(dump, {"--report=jit"}),
            testing::ReportCsv(trace, {"--report=jit"}));
}

TEST_F(JitReportTest, TextShowsHotCallsThatWereNotInlined) {
  const std::string text = testing::RunPost({"--report=jit", "t"}, {{"t", builder_.Finish()}}).out;
  EXPECT_THAT(text, HasSubstr("A.run()  (400 bytes of code, compiled again 1×)\n"));
  EXPECT_THAT(text,
              HasSubstr("30.0 %           3,000     100 %  A.mul()  (7,000 bytes of code)\n"));
  EXPECT_THAT(text, Not(HasSubstr("A.rare()")));  // 0.01 % of the calls
}

TEST_F(JitReportTest, ShowsTiersAndDiscardedCode) {
  Load(3, 0x5000, 10).set_level(3);
  Load(3, 0x6000, 10).set_level(4);  // better: nothing is discarded
  Load(4, 0x7000, 10).set_level(3);
  proto::CodeEvent& loop = Load(4, 0x7100, 10);
  loop.set_level(4);
  loop.set_osr_entry(6);
  Load(4, 0x8000, 10).set_level(4);
  Load(4, 0x9000, 10).set_level(3);  // deoptimised
  Load(4, 0xa000, 10).set_level(4);  // and better again
  const std::string trace = builder_.Finish();
  EXPECT_THAT(MethodRows(trace, "method"),
              ElementsAre(CsvRow{"A.cold()", "C2", "5", "2", "3", "1", "2", "1"},
                          CsvRow{"A.run()", "", "2", "0", "0", "0", "1", "0"},
                          CsvRow{"A.rare()", "C2", "2", "1", "1", "0", "0", "0"},
                          CsvRow{"A.mul()", "", "1", "0", "0", "0", "0", "0"},
                          CsvRow{"A.add()", "", "1", "0", "0", "0", "0", "0"}));
  const std::string text = testing::RunPost({"--report=jit", "t"}, {{"t", trace}}).out;
  EXPECT_THAT(text, HasSubstr("code of 3 others stayed or got better\n"));
  const std::string dump = testing::RunPost({"dump", "t"}, {{"t", trace}}).out;
  EXPECT_EQ(testing::ReportCsv(dump, {"--report=jit"}),
            testing::ReportCsv(trace, {"--report=jit"}));
}

TEST_F(JitReportTest, ListsAdaptersAndUnknownMethodsSeparately) {
  methods_.push_back(builder_.Method(builder_.Class("java.lang.invoke.MethodHandle"), "invokeBasic",
                                     "([Ljava/lang/Object;)Ljava/lang/Object;"));
  for (const uint64_t address : {0x5000, 0x6000, 0x7000}) {
    Load(5, address, 100).set_native_wrapper(true);
  }
  methods_.push_back(0);
  Load(6, 0x8000, 100);
  const std::string trace = builder_.Finish();
  EXPECT_THAT(MethodRows(trace, "adapter"),
              ElementsAre(CsvRow{"java.lang.invoke.MethodHandle.invokeBasic(Object[])",
                                 "native wrapper", "3", "0", "0", "0", "2", "0"}));
  EXPECT_THAT(MethodRows(trace, "unknown"),
              ElementsAre(CsvRow{"[unknown method]", "", "1", "0", "0", "0", "0", "0"}));
  const std::string text = testing::RunPost({"--report=jit", "t"}, {{"t", trace}}).out;
  EXPECT_THAT(text,
              HasSubstr("apart: 3 pieces of adapters for method handles, 1 of methods that are "
                        "not known\n"));
  EXPECT_THAT(text, Not(HasSubstr("invokeBasic")));
}

// A method without code that ran compiled can only have been inlined somewhere.
TEST_F(JitReportTest, CalleesThatRanCompiledWithoutCodeWereInlined) {
  const uint32_t hot = builder_.Node(1, 0, routines_[4]);
  builder_.Count(1, hot, 1, 0);
  builder_.Count(1, builder_.Node(1, hot, routines_[3]), 5000, 4900);
  const auto rows = testing::Rows(builder_.Finish(), "jit", {"name", "caller", "status"});
  EXPECT_THAT(rows, ::testing::Contains(CsvRow{"A.rare()", "A.cold()", "inlined"}));
}

TEST(JitReportWithoutCodeTest, ReportsMissingRecordsOfCode) {
  EXPECT_THAT(testing::RunPost({"--report=jit", "t"}, {{"t", "# jtrace-text 1 unit=ns\n"}}).out,
              HasSubstr("no records of compiled code"));
}

}  // namespace
}  // namespace jtrace
