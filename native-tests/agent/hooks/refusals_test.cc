#include "agent/hooks/refusals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <fstream>
#include <latch>
#include <thread>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "agent/hooks/hook_spec.h"
#include "agent/hooks/hooks.h"

namespace jtrace::hooks {
namespace {

// What the handlers may call stands in one list, and all that libc has of it is refused.
TEST(RefusalsTest, NothingThatTheHandlersCall) {
  std::ifstream allowed(JTRACE_SOURCE_DIR "/agent/hot/allowed_symbols.txt");
  std::string line;
  int checked = 0;
  while (std::getline(allowed, line)) {
    const std::string symbol(absl::StripAsciiWhitespace(line));
    if (symbol.empty() || symbol[0] == '#' || symbol == "_GLOBAL_OFFSET_TABLE_") continue;
    auto spec = ParseHookSpec(absl::StrCat("lib?.so.6!", symbol));
    ASSERT_TRUE(spec.ok());
    const absl::Status status = CheckHooks({*spec});
    if (absl::IsNotFound(status)) continue;  // the loader's
    ++checked;
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << symbol << ": " << status;
  }
  EXPECT_GT(checked, 10);
}

TEST(RefusalsTest, NamesThreadsThatBlockTraps) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the sanitizer's runtime blocks signals itself";
#endif
  EXPECT_THAT(ThreadsThatBlockTraps(), testing::IsEmpty());
  std::latch blocked(1);
  std::latch seen(1);
  std::thread thread([&] {
    pthread_setname_np(pthread_self(), "deaf");
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    blocked.count_down();
    seen.wait();
  });
  blocked.wait();
  EXPECT_THAT(ThreadsThatBlockTraps(), testing::ElementsAre("deaf"));
  Losses losses;
  Hooks hooks(losses);
  hooks.Begin({HookSpec{"libc.so.6", "getppid", HookKind::kCount}});
  EXPECT_TRUE(hooks.All().empty());
  EXPECT_THAT(losses.Snapshot()[0].what, testing::HasSubstr("'deaf'"));
  hooks.End();
  seen.count_down();
  thread.join();
}

}  // namespace
}  // namespace jtrace::hooks
