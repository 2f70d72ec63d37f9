// The command line of `jtrace web`.
#include "gtest/gtest.h"
#include "postproc/cli/jtrace_command_line.h"
#include "postproc/cli/web_command.h"

namespace jtrace::control {
namespace {

TEST(WebOptionsTest, ThePortIsItsOwnAndTheRestAreJtracePosts) {
  const absl::StatusOr<WebOptions> options =
      ReadWebOptions({"--scope=app", "--port=8080", "--wide"});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->port, 8080);
  EXPECT_EQ(options->report, (std::vector<std::string>{"--scope=app", "--wide"}));
  EXPECT_EQ(ReadWebOptions({})->port, 0);
}

TEST(WebOptionsTest, OtherPortsAndOutputsAreRejected) {
  for (const char* option :
       {"--port=", "--port=0", "--port=65536", "--port=x", "--port=-1", "--report=flat",
        "--format=csv", "-o", "-oX", "--output=x", "--version", "--fail-on=calls", "trace.bin"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ReadWebOptions({option}).status())) << option;
    EXPECT_FALSE(ParseCommandLine({"web", "4711", option}).ok()) << option;
  }
}

TEST(WebOptionsTest, ItsHelpIsOneStepAway) {
  EXPECT_TRUE(ParseCommandLine({"web", "--help"})->help);
  EXPECT_TRUE(ParseCommandLine({"web", "4711", "--help"})->help);
  EXPECT_FALSE(ParseCommandLine({"web"}).ok());
  EXPECT_NE(WebHelpText().find("jtrace web server.jar --port=8080"), std::string::npos);
}

}  // namespace
}  // namespace jtrace::control
