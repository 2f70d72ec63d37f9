#include "postproc/support/exit_codes.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "postproc/support/error_kind.h"

namespace jtrace::postproc {
namespace {

TEST(ExitCodesTest, HelpHasALineForEach) {
  EXPECT_EQ(ExitCodesHelp(Program::kPost),
            "exit codes: 0 done (a damaged tail and skipped records are reported on stderr)\n"
            "            1 wrong usage\n"
            "            2 input unreadable, not a trace or too large, or the output cannot be "
            "written\n"
            "            3 a --fail-on rule is broken\n");
  EXPECT_EQ(ExitCodesHelp(Program::kShip).find("3 "), std::string::npos);
}

TEST(ExitCodesTest, OnlyShipDistinguishesOutputAndMemory) {
  const absl::Status any = absl::UnavailableError("no");
  const auto code = [&](ErrorKind kind) { return ExitCodeOf(OfKind(kind, any)); };
  EXPECT_EQ(ExitCodeOf(absl::OkStatus()), kExitDone);
  EXPECT_EQ(code(ErrorKind::kUsage), kExitUsage);
  EXPECT_EQ(code(ErrorKind::kOther), kExitInputOutput);
  EXPECT_EQ(code(ErrorKind::kOutput), kExitInputOutput);
  EXPECT_EQ(code(ErrorKind::kMemory), kExitInputOutput);
  setenv(kRunByShip, "1", 1);
  EXPECT_EQ(code(ErrorKind::kOther), kExitInputOutput);
  EXPECT_EQ(code(ErrorKind::kOutput), kExitOutput);
  EXPECT_EQ(code(ErrorKind::kMemory), kExitMemory);
  unsetenv(kRunByShip);
}

// The trace is not what was asked for: usage, for jtrace only.
TEST(ExitCodesTest, AnInvalidArgumentIsWrongUsageOfJtrace) {
  EXPECT_EQ(JtraceExitCodeOf(absl::InvalidArgumentError("no")), kExitUsage);
  EXPECT_EQ(JtraceExitCodeOf(absl::NotFoundError("no")), kExitInputOutput);
  EXPECT_EQ(ExitCodeOf(absl::InvalidArgumentError("no")), kExitInputOutput);
}

}  // namespace
}  // namespace jtrace::postproc
