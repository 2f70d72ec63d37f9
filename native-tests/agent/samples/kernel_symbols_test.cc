#include "agent/samples/kernel_symbols.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace jtrace::samples {
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
  KernelSymbols symbols(path_, {});
  EXPECT_TRUE(symbols.readable());
  EXPECT_EQ(symbols.NameOf(0xffffffff81001fff), "ksys_read");
  EXPECT_EQ(symbols.NameOf(0xffffffff81002000), "vfs_read");
  EXPECT_EQ(symbols.NameOf(0xffffffffc0001234), "do_it");
  EXPECT_EQ(symbols.NameOf(0xffffffff81000fff), "[0xffffffff81000fff]");
  EXPECT_EQ(symbols.NameOf(0xfffffffff0000000), "[0xfffffffff0000000]");
}

TEST_F(KernelSymbolsTest, HiddenAddressesGiveNoNames) {
  Write("0000000000000000 T ksys_read\n0000000000000000 t vfs_read\n");
  KernelSymbols symbols(path_, {});
  EXPECT_FALSE(symbols.readable());
  EXPECT_EQ(symbols.NameOf(0xffffffff81001fff), "[0xffffffff81001fff]");
}

// Those of processors come first on some kernels, and are small numbers or 0 in any case.
TEST_F(KernelSymbolsTest, TheFirstFunctionShowsWhetherAddressesAreHidden) {
  Write("0000000000000000 A __per_cpu_start\nffffffff81000000 T _stext\n");
  EXPECT_TRUE(KernelSymbols(path_, {}).readable());
  Write("0000000000000000 A __per_cpu_start\n0000000000000000 T _stext\n");
  EXPECT_FALSE(KernelSymbols(path_, {}).readable());
}

TEST_F(KernelSymbolsTest, NoTableGivesNoNames) {
  KernelSymbols symbols("/nonexistent", {});
  EXPECT_FALSE(symbols.readable());
}

// Names of the table as it was when the first program read it, and as it is now: which of the two a
// later program has shows what it read.
class KeptKernelNamesTest : public testing::Test {
 protected:
  static constexpr uint64_t kKernel = 0xffffffff81000000;
  static constexpr uint64_t kFirstOfModule = 0xffffffffc0000100;
  static constexpr uint64_t kLastOfModule = 0xffffffffc0000180;
  static constexpr uint64_t kPassing = 0xffffffffc0002010;

  KeptKernelNamesTest() {
    std::filesystem::remove_all(base_);
    std::filesystem::create_directory(base_);
    Write("boot", "7ece0e77-05c5-4f6d-ad21-d29eaf9b3131\n");
    Write("modules", "nf 4096 1 other, Live 0xffffffffc0000000\n");
    WriteTable("old");
    NameAt(kKernel);
    WriteTable("new");
  }
  ~KeptKernelNamesTest() override { std::filesystem::remove_all(base_); }

  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(base_ + "/" + name) << text;
  }
  void WriteTable(const std::string& kind) const {
    Write("kallsyms", "ffffffff81000000 T " + kind + "_kernel\nffffffff81001000 T " + kind +
                          "_second\nffffffffc0000100 t " + kind +
                          "_first\t[nf]\nffffffffc0000180 t " + kind +
                          "_last\t[nf]\nffffffffc0002000 t " + kind +
                          "_prog\t[bpf]\nffffffffc0002100 t " + kind + "_next\t[bpf]\n");
  }
  // As another program names it.
  std::string NameAt(uint64_t address) const {
    return KernelSymbols(
               base_ + "/kallsyms",
               {.folder = folder_, .boot_id = base_ + "/boot", .modules = base_ + "/modules"})
        .NameOf(address);
  }

  const std::string base_ = testing::TempDir() + "jtrace-names-" + std::to_string(getpid());
  const std::string folder_ = base_ + "/cache/jtrace";
  const std::string file_ = folder_ + "/kernel-names";
};

TEST_F(KeptKernelNamesTest, ALaterProgramDoesNotReadTheTable) {
  EXPECT_EQ(NameAt(kKernel + 8), "old_kernel");
  EXPECT_EQ(NameAt(kFirstOfModule), "old_first");
}

TEST_F(KeptKernelNamesTest, OnlyItsUserMayReadThem) {
  struct stat info = {};
  ASSERT_EQ(stat(file_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  ASSERT_EQ(stat(folder_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

// What lies behind a module's last function may be something else by now.
TEST_F(KeptKernelNamesTest, WhatMayHaveChangedIsReadAgain) {
  EXPECT_EQ(NameAt(kLastOfModule), "new_last");
  EXPECT_EQ(NameAt(kPassing), "new_prog");
}

TEST_F(KeptKernelNamesTest, UsersOfAModuleDoNotMatter) {
  Write("modules", "nf 4096 7 third,other, Live 0xffffffffc0000000\n");
  EXPECT_EQ(NameAt(kKernel), "old_kernel");
}

TEST_F(KeptKernelNamesTest, NewModulesAreSeen) {
  Write("modules", "nf 4096 1 other, Live 0xffffffffc0200000\n");
  EXPECT_EQ(NameAt(kKernel), "new_kernel");
  WriteTable("newer");
  EXPECT_EQ(NameAt(kKernel), "new_kernel") << "was not kept";
}

TEST_F(KeptKernelNamesTest, AnotherKernelIsSeen) {
  Write("boot", "00000000-05c5-4f6d-ad21-d29eaf9b3131\n");
  EXPECT_EQ(NameAt(kKernel), "new_kernel");
}

TEST_F(KeptKernelNamesTest, AnUnknownKernelIsNotKept) {
  Write("boot", "");
  EXPECT_EQ(NameAt(kKernel), "new_kernel");
  WriteTable("newer");
  EXPECT_EQ(NameAt(kKernel), "newer_kernel");
}

TEST_F(KeptKernelNamesTest, HiddenAddressesStayHidden) {
  Write("kallsyms", "0000000000000000 T new_kernel\n");
  EXPECT_EQ(NameAt(kKernel), "[0xffffffff81000000]");
}

TEST_F(KeptKernelNamesTest, AFolderThatOthersWriteToIsNotUsed) {
  ASSERT_EQ(chmod(folder_.c_str(), 0777), 0);
  EXPECT_EQ(NameAt(kKernel), "new_kernel");
}

TEST_F(KeptKernelNamesTest, LinksAreNotFollowed) {
  std::filesystem::rename(file_, folder_ + "/real");
  std::filesystem::create_symlink(folder_ + "/real", file_);
  EXPECT_EQ(NameAt(kKernel), "new_kernel");
  WriteTable("newer");
  EXPECT_EQ(NameAt(kKernel), "new_kernel") << "the link was not replaced";
}

TEST_F(KeptKernelNamesTest, ADamagedFileIsNotUsed) {
  const uint64_t size = std::filesystem::file_size(file_);
  for (const uint64_t left : {size - 1, size / 2, uint64_t{20}, uint64_t{0}}) {
    std::filesystem::resize_file(file_, left);
    WriteTable(std::to_string(left));
    EXPECT_EQ(NameAt(kKernel), std::to_string(left) + "_kernel");
    WriteTable("kept");
    std::filesystem::remove(file_);
    EXPECT_EQ(NameAt(kKernel), "kept_kernel");
  }
}

TEST_F(KeptKernelNamesTest, NoPlaceForThemIsNoError) {
  std::filesystem::remove_all(base_ + "/cache");
  Write("cache", "a file");
  EXPECT_EQ(NameAt(kKernel), "new_kernel");
}

}  // namespace
}  // namespace jtrace::samples
