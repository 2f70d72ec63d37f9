#include "agent/native_hooks/refusals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "agent/native_hooks/hook_targets.h"
#include "agent/native_hooks/hooks.h"

namespace jtrace::native_hooks {
namespace {

// One list has the functions that the handlers may call, and all of them in libc are refused.
TEST(RefusalsTest, RefusesEverythingThatTheHandlersCall) {
  std::ifstream allowed(JTRACE_SOURCE_DIR "/agent/signal_safe/allowed_symbols.txt");
  std::string line;
  int checked = 0;
  while (std::getline(allowed, line)) {
    const std::string symbol(absl::StripAsciiWhitespace(line));
    if (symbol.empty() || symbol[0] == '#' || symbol == "_GLOBAL_OFFSET_TABLE_") continue;
    auto spec = ParseHookSpec(absl::StrCat("lib?.so.6!", symbol));
    ASSERT_TRUE(spec.ok());
    const absl::Status status = CheckHookSpecs({*spec});
    if (absl::IsNotFound(status)) continue;  // the loader's
    ++checked;
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << symbol << ": " << status;
  }
  EXPECT_GT(checked, 10);
}

TEST(RefusalsTest, RefusesReturnAddressesOfSignalHandlers) {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  sigaction(SIGUSR2, &action, nullptr);
  // What libc itself passes to the kernel.
  struct {
    void (*handler)(int);
    unsigned long flags;
    uintptr_t restorer;
    uint64_t mask;
  } kernel = {};
  ASSERT_EQ(syscall(SYS_rt_sigaction, SIGUSR2, nullptr, &kernel, sizeof kernel.mask), 0);
  LoadedDso object;
  object.name = "libother.so";
  EXPECT_THAT(std::string(MayAwaitReturnAt(object, kernel.restorer).message()),
              testing::HasSubstr("handlers of signals"));
  object.name = "libc.so.6";
  EXPECT_FALSE(MayAwaitReturnAt(object, reinterpret_cast<uintptr_t>(&getppid) + 1).ok());
  signal(SIGUSR2, SIG_DFL);
}

}  // namespace
}  // namespace jtrace::native_hooks
