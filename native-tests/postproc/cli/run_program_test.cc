// jtrace run and env without a JVM: how a program gets the agent, which traces it left, its exit
// code.
#include "postproc/cli/run_program.h"

#include <unistd.h>

#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "postproc/cli/jtrace_command_line.h"

namespace jtrace::control {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Words = std::vector<std::string>;

TEST(WithAgentTest, JavaGetsTheAgentAsItsFirstOption) {
  const ProgramStart start =
      WithAgent(Words{"/opt/jdk/bin/java", "-jar", "a.jar"}, "/l.so=out=a.bin", "-Xmx1g");
  EXPECT_THAT(start.command,
              ElementsAre("/opt/jdk/bin/java", "-agentpath:/l.so=out=a.bin", "-jar", "a.jar"));
  EXPECT_EQ(start.variable, "");
}

TEST(WithAgentTest, ScriptsGetItByTheEnvironment) {
  const ProgramStart start = WithAgent(Words{"./gradlew", "test"}, "/l.so=out=a.bin", "-Xmx1g");
  EXPECT_THAT(start.command, ElementsAre("./gradlew", "test"));
  EXPECT_EQ(start.variable, "JAVA_TOOL_OPTIONS=-agentpath:/l.so=out=a.bin -Xmx1g");
  EXPECT_EQ(WithAgent(Words{"javac"}, "/l.so", "").variable, "JAVA_TOOL_OPTIONS=-agentpath:/l.so");
}

TEST(ToolOptionsTest, RefusesWhatAJvmWouldSplit) {
  EXPECT_EQ(*ToolOptions("/l.so", "mode=samples"), "-agentpath:/l.so=mode=samples");
  EXPECT_EQ(*ToolOptions("/l.so", ""), "-agentpath:/l.so");
  EXPECT_FALSE(ToolOptions("/my files/l.so", "").ok());
  EXPECT_FALSE(ToolOptions("/l.so", "out='a'").ok());
}

TEST(WithTraceNameTest, NamesATraceUnlessTheOptionsDo) {
  EXPECT_EQ(*WithTraceName("mode=events,out=x.bin", "now"), "mode=events,out=x.bin");
  const std::string folder = fs::current_path().string();
  const std::string name = "/jtrace-now-" + std::to_string(getpid()) + ".%p.bin";
  EXPECT_EQ(*WithTraceName("", "now"), "out=" + folder + name);
  EXPECT_EQ(*WithTraceName("mode=events", "now"), "mode=events,out=" + folder + name);
  EXPECT_EQ(*WithTraceName("a=1, out=x.bin", "now"), "a=1, out=x.bin");
}

class WrittenTracesTest : public ::testing::Test {
 protected:
  WrittenTracesTest() : folder_(::testing::TempDir() + "/tracesXXXXXX") {
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
  }
  ~WrittenTracesTest() override { fs::remove_all(folder_); }

  void Write(const std::string& name, size_t size, int age_s = 0) {
    const fs::path path = fs::path(folder_) / name;
    std::ofstream(path) << std::string(size, 'x');
    fs::last_write_time(path, now_ - std::chrono::seconds(age_s));
  }
  std::vector<std::string> Find(const std::string& out) {
    std::vector<std::string> names;
    for (const fs::path& path :
         WrittenTraces("mode=events,out=" + folder_ + "/" + out + ",every=1", now_)) {
      names.push_back(path.filename());
    }
    return names;
  }

  std::string folder_;
  fs::file_time_type now_ = fs::file_time_type::clock::now();
};

TEST_F(WrittenTracesTest, TheLargestFirstWithoutOlderOrEmptyOnes) {
  Write("a.1.bin", 10);
  Write("a.22.bin", 30);
  Write("a.3.bin", 20, 60);
  Write("a.4.bin", 0);
  Write("b.1.bin", 40);
  EXPECT_THAT(Find("a.%p.bin"), ElementsAre("a.22.bin", "a.1.bin"));
  setenv("JTRACE_TEST_NAME", "b", 1);
  EXPECT_THAT(Find("%{JTRACE_TEST_NAME}.%n.bin"), ElementsAre("b.1.bin"));
  EXPECT_THAT(Find("%{JTRACE_TEST_NO_SUCH}.bin"), IsEmpty());
  // As the agent numbers the parts of loop=, and files that another JVM has open.
  EXPECT_THAT(Find("b.bin"), ElementsAre("b.1.bin"));
  EXPECT_THAT(Find("c.%t.bin"), IsEmpty());
}

TEST_F(WrittenTracesTest, OtherCharactersOfANameMeanThemselves) {
  Write("a*.bin", 10);
  Write("ab.bin", 20);
  EXPECT_THAT(Find("a*.bin"), ElementsAre("a*.bin"));
  EXPECT_THAT(Find("a[b].bin"), IsEmpty());
}

absl::StatusOr<int> Shell(const std::string& script, const std::string& variable = "") {
  return RunAndWait({{"sh", "-c", script}, variable});
}

TEST(RunAndWaitTest, ReturnsTheExitCode) {
  EXPECT_EQ(*Shell("exit 0"), 0);
  EXPECT_EQ(*Shell("exit 7"), 7);
  EXPECT_EQ(*Shell("kill -9 $$"), 128 + 9);
  EXPECT_EQ(*Shell("test \"$JAVA_TOOL_OPTIONS\" = -agentpath:/l.so",
                   "JAVA_TOOL_OPTIONS=-agentpath:/l.so"),
            0);
  EXPECT_NE(*Shell("test \"$JAVA_TOOL_OPTIONS\" = -agentpath:/l.so"), 0);
}

TEST(RunAndWaitTest, ReportsWhatCannotBeExecuted) {
  const absl::StatusOr<int> code = RunAndWait({{"/no/such/program"}, ""});
  EXPECT_EQ(code.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(code.status().message()), HasSubstr("cannot run /no/such/program: "));
}

// The terminal's interrupt is the program's to answer; a request to end is passed on.
TEST(RunAndWaitTest, SignalsReachTheProgramAndNotThisProcess) {
  EXPECT_EQ(*Shell("trap 'exit 5' INT; kill -INT $PPID; kill -INT $$; sleep 5"), 5);
  EXPECT_EQ(
      *Shell("trap 'exit 6' TERM; kill -TERM $PPID; for i in 1 2 3 4 5 6 7 8 9; do sleep 1; done"),
      6);
}

absl::StatusOr<CommandLine> Parse(std::vector<std::string_view> args) {
  return ParseCommandLine(args);
}

TEST(RunCommandLineTest, DividesOptionsOfAgentReportAndProgram) {
  const absl::StatusOr<CommandLine> line =
      Parse({"run", "mode=events", "--report=flat", "-d", "30", "--", "java", "--version", "a=b"});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_EQ(AgentOptions(*line), "mode=events,duration=30");
  EXPECT_THAT(line->report_options, ElementsAre("--report=flat"));
  EXPECT_THAT(line->program, ElementsAre("java", "--version", "a=b"));
  EXPECT_TRUE(Parse({"run", "--open", "--", "java"})->open_page);
  EXPECT_EQ(AgentOptions(*Parse({"env", "mode=samples"})), "mode=samples");
}

TEST(RunCommandLineTest, ErrorsNameTheRemedy) {
  const auto message = [](std::vector<std::string_view> args) {
    return std::string(Parse(std::move(args)).status().message());
  };
  EXPECT_EQ(message({"run"}), "run needs -- and a program, e.g. jtrace run -- java -jar app.jar");
  EXPECT_EQ(message({"run", "mode=events", "--"}), message({"run"}));
  EXPECT_THAT(message({"run", "java", "-jar"}),
              HasSubstr("write -- before the program: jtrace run -- java"));
  EXPECT_THAT(message({"run", "-x", "--", "java"}), HasSubstr("unknown option '-x'"));
  EXPECT_THAT(message({"run", "--open", "--report=flat", "--", "java"}),
              HasSubstr("use one of them"));
  EXPECT_THAT(message({"env", "4711"}), HasSubstr("unknown option '4711'"));
}

}  // namespace
}  // namespace jtrace::control
