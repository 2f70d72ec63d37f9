// lcov, jacoco, cobertura: what they say, and that the tools for which they are made read it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "native-tests/support/csv.h"
#include "native-tests/support/line_reports.h"
#include "native-tests/support/run_post.h"
#include "postproc/source/zip_archive.h"

namespace jtrace {
namespace {

namespace fs = std::filesystem;
using postproc::LineProfile;
using ::testing::HasSubstr;
using testing::Line;
using testing::LineReport;
using testing::Method;
using ::testing::Not;
using testing::PrimesProfile;

constexpr char kJacocoJar[] = "/usr/share/java/org.jacoco.report.jar";

bool Has(const std::string& command) {
  return std::system(("command -v " + command + " >/dev/null 2>&1").c_str()) == 0;
}

// Two packages and two files, a shared line, a branch not taken, names that need care.
LineProfile Odd() {
  LineProfile profile;
  profile.methods = {
      Method("Main", "main(String[])", "Main.java", 1, {Line(3, {1})}),
      Method("a.Outer", "<init>()", "Outer.java", 2, {Line(5, {2}, 2, 1), Line(6, {2, 0})}),
      Method("a.Outer", "<init>(int,Object)", "Outer.java", 0, {Line(5, {0}, 2, 0), Line(9, {0})}),
      Method("a.Outer$I", "\x1b&\"<]]>'\n\xEF\xBF\xBF()", "Outer.java", 0, {Line(12, {0})}),
      Method("a.Outer", "bare()", "Outer.java", 4, {}),
      Method("a.Away", "run()", "../../etc/passwd", 1, {Line(1, {1})}),
  };
  profile.methods[1].descriptor = "()V";
  return profile;
}

class CoverageExportTest : public ::testing::Test {
 protected:
  CoverageExportTest()
      : folder_(fs::path(::testing::TempDir()) /
                ("coverage" +
                 std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "src/main/java/primes");
    Put("src/main/java/primes/Primes.java", testing::PrimesSource());
  }
  ~CoverageExportTest() override { fs::remove_all(folder_); }

  void Put(const std::string& path, const std::string& content) const {
    std::ofstream(folder_ / path, std::ios::binary) << content;
  }
  std::string Source() const { return "--source=" + folder_.string(); }

  // The output of a command in the folder; the exit code is its last line.
  std::string Run(const std::string& command) const {
    const std::string output = (folder_ / "output").string();
    const int code = std::system(
        ("cd " + folder_.string() + " && " + command + " >" + output + " 2>&1").c_str());
    std::ifstream in(output);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    return text + "exit " + std::to_string(code);
  }

  const fs::path folder_;
};

TEST_F(CoverageExportTest, LcovHasARecordForEachFile) {
  std::string info = LineReport(PrimesProfile(), {"--report=lcov", Source()});
  const size_t at = info.find(folder_.string());
  ASSERT_NE(at, std::string::npos) << info;
  EXPECT_EQ(info.replace(at, folder_.string().size(), "FOLDER"),
            "TN:\nSF:FOLDER/src/main/java/primes/Primes.java\n"
            "FN:4,primes.Primes.<init>()\nFN:6,primes.Primes.prime(int)\n"
            "FN:13,primes.Primes.usage()\nFN:17,primes.Primes.main(String[])\n"
            "FNDA:0,primes.Primes.<init>()\nFNDA:999,primes.Primes.prime(int)\n"
            "FNDA:0,primes.Primes.usage()\nFNDA:1,primes.Primes.main(String[])\nFNF:4\nFNH:2\n"
            "BRDA:6,0,0,1\nBRDA:6,0,1,1\nBRDA:7,0,0,1\nBRDA:7,0,1,1\n"
            "BRDA:18,0,0,1\nBRDA:18,0,1,1\n"
            "BRDA:19,0,0,1\nBRDA:19,0,1,1\nBRDA:19,0,2,1\nBRDA:19,0,3,0\nBRF:10\nBRH:9\n"
            "DA:4,0\nDA:6,5456\nDA:7,5288\nDA:9,168\nDA:13,0\nDA:14,0\nDA:17,1\nDA:18,1000\n"
            "DA:19,999\nDA:20,168\nDA:21,168\nDA:24,1\nDA:25,1\nLF:13\nLH:10\nend_of_record\n");
}

TEST_F(CoverageExportTest, LcovNamesFilesBelowThePackagesRootAndCutsNoNames) {
  const std::string info = LineReport(Odd(), {"--report=lcov"});
  EXPECT_THAT(info, HasSubstr("SF:Main.java\n"));
  EXPECT_THAT(info, HasSubstr("SF:a/Outer.java\n"));
  EXPECT_THAT(info, HasSubstr("FNDA:0,a.Outer.<init>(int;Object)\n"));
  EXPECT_THAT(info, HasSubstr("FN:12,a.Outer$I.\\x1b&\"<]]>'\\x0a"));
  // Methods without lines, and files that no source can be.
  EXPECT_THAT(info, Not(HasSubstr("bare")));
  EXPECT_THAT(info, Not(HasSubstr("passwd")));
  EXPECT_THAT(LineReport(Odd(), {"--report=lcov", "--of=Main"}), Not(HasSubstr("Outer")));
}

// The numbers in genhtml's summary are those of the coverage report.
TEST_F(CoverageExportTest, GenhtmlReadsLcov) {
  if (!Has("genhtml")) GTEST_SKIP() << "not verified: genhtml (package lcov) is not installed";
  Put("coverage.info", LineReport(PrimesProfile(), {"--report=lcov", Source()}));
  const std::string shown = Run("genhtml --branch-coverage -o html coverage.info");
  EXPECT_THAT(shown, HasSubstr("lines......: 76.9% (10 of 13 lines)"));
  EXPECT_THAT(shown, HasSubstr("functions..: 50.0% (2 of 4 functions)"));
  EXPECT_THAT(shown, HasSubstr("branches...: 90.0% (9 of 10 branches)"));
  EXPECT_THAT(shown, HasSubstr("exit 0"));
}

constexpr char kJacoco[] = R"xml(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE report PUBLIC "-//JACOCO//DTD Report 1.1//EN" "report.dtd">
<report name="jtrace">
 <package name="a">
  <class name="a/Outer" sourcefilename="Outer.java">
   <method name="&lt;init&gt;" desc="()V" line="5">
    <counter type="INSTRUCTION" missed="1" covered="2"/>
    <counter type="BRANCH" missed="1" covered="1"/>
    <counter type="LINE" missed="0" covered="2"/>
    <counter type="METHOD" missed="0" covered="1"/>
   </method>
   <method name="&lt;init&gt;" desc="(int,Object)" line="5">
    <counter type="INSTRUCTION" missed="2" covered="0"/>
    <counter type="BRANCH" missed="2" covered="0"/>
    <counter type="LINE" missed="2" covered="0"/>
    <counter type="METHOD" missed="1" covered="0"/>
   </method>
   <counter type="INSTRUCTION" missed="3" covered="2"/>
   <counter type="BRANCH" missed="3" covered="1"/>
   <counter type="LINE" missed="1" covered="2"/>
   <counter type="METHOD" missed="1" covered="1"/>
   <counter type="CLASS" missed="0" covered="1"/>
  </class>
  <sourcefile name="Outer.java">
   <line nr="5" mi="1" ci="1" mb="3" cb="1"/>
   <line nr="6" mi="1" ci="1" mb="0" cb="0"/>
   <line nr="9" mi="1" ci="0" mb="0" cb="0"/>
   <counter type="INSTRUCTION" missed="3" covered="2"/>
   <counter type="BRANCH" missed="3" covered="1"/>
   <counter type="LINE" missed="1" covered="2"/>
   <counter type="METHOD" missed="1" covered="1"/>
   <counter type="CLASS" missed="0" covered="1"/>
  </sourcefile>
  <counter type="INSTRUCTION" missed="3" covered="2"/>
  <counter type="BRANCH" missed="3" covered="1"/>
  <counter type="LINE" missed="1" covered="2"/>
  <counter type="METHOD" missed="1" covered="1"/>
  <counter type="CLASS" missed="0" covered="1"/>
 </package>
 <counter type="INSTRUCTION" missed="3" covered="2"/>
 <counter type="BRANCH" missed="3" covered="1"/>
 <counter type="LINE" missed="1" covered="2"/>
 <counter type="METHOD" missed="1" covered="1"/>
 <counter type="CLASS" missed="0" covered="1"/>
</report>
)xml";

TEST_F(CoverageExportTest, JacocoHasCountersOfEachElement) {
  EXPECT_EQ(LineReport(Odd(), {"--report=jacoco", "--of=a.Outer.<init>"}), kJacoco);
}

TEST_F(CoverageExportTest, CoberturaHasLinesOfMethodsAndClasses) {
  const std::string xml = LineReport(PrimesProfile(), {"--report=cobertura", Source()});
  EXPECT_THAT(xml, HasSubstr("<coverage line-rate=\"0.7692\" branch-rate=\"0.9000\" "
                             "lines-covered=\"10\" lines-valid=\"13\" branches-covered=\"9\" "
                             "branches-valid=\"10\" complexity=\"0\" "));
  EXPECT_THAT(xml, HasSubstr("<source>" + folder_.string() + "/src/main/java</source>"));
  EXPECT_THAT(xml, HasSubstr("<class name=\"primes.Primes\" filename=\"primes/Primes.java\" "));
  EXPECT_THAT(xml, HasSubstr("<method name=\"prime\" signature=\"(int)\" line-rate=\"1.0000\" "));
  EXPECT_THAT(xml, HasSubstr("<line number=\"19\" hits=\"999\" branch=\"true\" "
                             "condition-coverage=\"75% (3/4)\"/>"));
  EXPECT_THAT(xml, HasSubstr("<line number=\"13\" hits=\"0\" branch=\"false\"/>"));
  EXPECT_THAT(LineReport(Odd(), {"--report=cobertura"}), HasSubstr("<source>.</source>"));
}

// Of all formats, the numbers are those of the coverage report.
TEST_F(CoverageExportTest, TotalsAreThoseOfTheCoverageReport) {
  LineProfile odd = Odd();
  odd.methods.pop_back();  // its file has no path, and lcov leaves it out
  for (const LineProfile& profile : {PrimesProfile(), odd}) {
    const auto program = [&](const char* by) {
      return testing::ParseCsv(LineReport(profile, {"--report=coverage", "--format=csv", by}))
          .rows.at(0);
    };
    const testing::CsvRow lines = program("--by=lines");
    const testing::CsvRow branches = program("--by=branches");
    const std::string cobertura = LineReport(profile, {"--report=cobertura"});
    EXPECT_THAT(cobertura, HasSubstr("lines-covered=\"" + lines[3] + "\" lines-valid=\"" +
                                     lines[2] + "\" branches-covered=\"" + branches[3] +
                                     "\" branches-valid=\"" + branches[2] + "\""));
    const auto missed = [](const testing::CsvRow& row) {
      return std::to_string(std::stoi(row[2]) - std::stoi(row[3]));
    };
    const std::string jacoco = LineReport(profile, {"--report=jacoco"});
    EXPECT_THAT(jacoco, HasSubstr("\n <counter type=\"LINE\" missed=\"" + missed(lines) +
                                  "\" covered=\"" + lines[3] + "\"/>\n"));
    EXPECT_THAT(jacoco, HasSubstr("\n <counter type=\"BRANCH\" missed=\"" + missed(branches) +
                                  "\" covered=\"" + branches[3] + "\"/>\n"));
    int64_t found = 0;
    int64_t hit = 0;
    std::istringstream info(LineReport(profile, {"--report=lcov"}));
    for (std::string line; std::getline(info, line);) {
      if (line.starts_with("LF:")) found += std::stoi(line.substr(3));
      if (line.starts_with("LH:")) hit += std::stoi(line.substr(3));
    }
    EXPECT_EQ(std::to_string(found), lines[2]);
    EXPECT_EQ(std::to_string(hit), lines[3]);
  }
}

TEST_F(CoverageExportTest, JacocoHasTheFormOfItsDtd) {
  const auto jar = postproc::ZipArchive::Open(kJacocoJar);
  if (!jar.ok() || !Has("xmllint")) {
    GTEST_SKIP() << "not verified: JaCoCo's DTD (libjacoco-java) or xmllint (libxml2-utils) is not "
                    "installed";
  }
  std::string dtd;
  for (const postproc::ZipEntry& entry : jar->entries()) {
    if (entry.name.ends_with("report.dtd")) dtd = jar->Read(entry).value();
  }
  ASSERT_THAT(dtd, HasSubstr("<!ELEMENT report"));
  Put("report.dtd", dtd);
  for (const LineProfile& profile : {PrimesProfile(), Odd()}) {
    Put("jacoco.xml", LineReport(profile, {"--report=jacoco"}));
    EXPECT_EQ(Run("xmllint --noout --nonet --valid jacoco.xml"), "exit 0");
  }
  // The check can fail.
  Put("jacoco.xml", "<!DOCTYPE report SYSTEM \"report.dtd\"><report/>");
  EXPECT_THAT(Run("xmllint --noout --nonet --valid jacoco.xml"), Not(HasSubstr("exit 0")));
}

TEST_F(CoverageExportTest, CoberturaHasTheFormOfItsDtd) {
  if (!Has("xmllint")) {
    GTEST_SKIP() << "not verified: xmllint (package libxml2-utils) is not installed";
  }
  // Its DTD is elsewhere, and no longer there.
  const std::string check = "sed 2d cobertura.xml | xmllint --noout --nonet --dtdvalid " +
                            std::string(JTRACE_SOURCE_DIR) +
                            "/native-tests/postproc/export/coverage-04.dtd -";
  for (const LineProfile& profile : {PrimesProfile(), Odd()}) {
    Put("cobertura.xml", LineReport(profile, {"--report=cobertura", Source()}));
    EXPECT_EQ(Run(check), "exit 0");
  }
  Put("cobertura.xml", "<?xml version=\"1.0\"?>\n\n<coverage/>");
  EXPECT_THAT(Run(check), Not(HasSubstr("exit 0")));
}

TEST_F(CoverageExportTest, WithoutCountsTheyNameTheRemedy) {
  for (const std::string report : {"lcov", "jacoco", "cobertura"}) {
    const auto run = testing::RunPost({"--report=" + report, "t"}, {{"t", testing::kNoCalls}});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.err, "jtrace-post: there are no counts of lines: record with blocks=on\n");
    for (const char* option : {"--top=3", "--sort=x", "--filter=1", "--metric=calls"}) {
      EXPECT_THAT(
          testing::RunPost({"--report=" + report, option, "t"}, {{"t", testing::kNoCalls}}).err,
          HasSubstr(": " + report + " does not use it; "));
    }
  }
}

}  // namespace
}  // namespace jtrace
