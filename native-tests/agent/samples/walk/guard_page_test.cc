#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/samples/signals.h"
#include "agent/samples/walk/cursor.h"

namespace jtrace::samples {
namespace {

// A thread at the very end of its stack: its red zone is the guard page.
TEST(GuardPageTest, CursorDoesNotTouchItBelowSp) {
  ASSERT_TRUE(InstallFaultHandler().ok());
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  void* const pages =
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_EQ(mprotect(pages, page, PROT_NONE), 0);
  const auto guard = reinterpret_cast<uintptr_t>(pages);
  ucontext_t context{};
  context.uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>(guard + page);
  *reinterpret_cast<uint64_t*>(guard + page) = 42;
  Cursor cursor{};
  cursor.SetInterrupted(&context, {guard, guard + 2 * page});
  ASSERT_TRUE(cursor.stack_known);
  uintptr_t value = 0;
  EXPECT_TRUE(cursor.Load(cursor.sp, &value));
  EXPECT_EQ(value, 42u);
  EXPECT_FALSE(cursor.Load(cursor.sp - 8, &value));
  EXPECT_FALSE(cursor.Load(cursor.sp - 128, &value));
  munmap(pages, 2 * page);
}

}  // namespace
}  // namespace jtrace::samples
