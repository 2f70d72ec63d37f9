#include "agent/jvm/hotspot/elf_symbols.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace {
// A local symbol, which dlsym does not find.
extern "C" {
__attribute__((used, noinline)) static void jtrace_test_local_symbol() { asm volatile(""); }
}
}  // namespace

namespace jtrace::jvm {
namespace {

TEST(ElfSymbolsTest, FindsLocalSymbols) {
  Dl_info info;
  const auto address = reinterpret_cast<uint64_t>(&jtrace_test_local_symbol);
  ASSERT_NE(dladdr(reinterpret_cast<void*>(address), &info), 0);
  const auto values =
      FindElfSymbols("/proc/self/exe", {"jtrace_test_local_symbol", "no_such_symbol_there"});
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(reinterpret_cast<uint64_t>(info.dli_fbase) + values[0], address);
  EXPECT_EQ(values[1], 0u);
}

TEST(ElfSymbolsTest, FindsNothingInOtherFiles) {
  EXPECT_EQ(FindElfSymbols("/no/such/file", {"main"}), std::vector<uint64_t>{0});
  EXPECT_EQ(FindElfSymbols("/proc/self/maps", {"main"}), std::vector<uint64_t>{0});
  EXPECT_EQ(FindElfSymbols(__FILE__, {"main"}), std::vector<uint64_t>{0});
}

}  // namespace
}  // namespace jtrace::jvm
