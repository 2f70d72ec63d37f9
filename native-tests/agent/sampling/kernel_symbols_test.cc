#include "agent/sampling/kernel_symbols.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "gtest/gtest.h"

namespace jtrace::sampling {
namespace {

class KernelSymbolsTest : public testing::Test {
 protected:
  ~KernelSymbolsTest() override { std::remove(path_.c_str()); }
  void Write(const char* text) { std::ofstream(path_) << text; }

  const std::string path_ = testing::TempDir() + "jtrace-kallsyms-" + std::to_string(getpid());
};

TEST_F(KernelSymbolsTest, NamesCodeByAddress) {
  Write(
      "ffffffff81002000 t vfs_read\n"
      "ffffffff81001000 T ksys_read\n"
      "ffffffff81001800 d some_data\n"
      "ffffffffc0001000 t do_it\t[module]\n");
  KernelSymbols symbols(path_);
  EXPECT_TRUE(symbols.readable());
  EXPECT_EQ(symbols.NameOf(0xffffffff81001fff), "ksys_read");
  EXPECT_EQ(symbols.NameOf(0xffffffff81002000), "vfs_read");
  EXPECT_EQ(symbols.NameOf(0xffffffffc0001234), "do_it");
  EXPECT_EQ(symbols.NameOf(0xffffffff81000fff), "[0xffffffff81000fff]");
  EXPECT_EQ(symbols.NameOf(0xfffffffff0000000), "[0xfffffffff0000000]");
}

TEST_F(KernelSymbolsTest, HiddenAddressesGiveNoNames) {
  Write("0000000000000000 T ksys_read\n0000000000000000 t vfs_read\n");
  KernelSymbols symbols(path_);
  EXPECT_FALSE(symbols.readable());
  EXPECT_EQ(symbols.NameOf(0xffffffff81001fff), "[0xffffffff81001fff]");
}

// Those of processors come first on some kernels, and are small numbers or 0 in any case.
TEST_F(KernelSymbolsTest, TheFirstFunctionShowsWhetherAddressesAreHidden) {
  Write("0000000000000000 A __per_cpu_start\nffffffff81000000 T _stext\n");
  EXPECT_TRUE(KernelSymbols(path_).readable());
  Write("0000000000000000 A __per_cpu_start\n0000000000000000 T _stext\n");
  EXPECT_FALSE(KernelSymbols(path_).readable());
}

TEST_F(KernelSymbolsTest, NoTableGivesNoNames) {
  KernelSymbols symbols("/nonexistent");
  EXPECT_FALSE(symbols.readable());
}

}  // namespace
}  // namespace jtrace::sampling
