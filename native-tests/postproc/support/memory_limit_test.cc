#include "postproc/support/memory_limit.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace jtrace::postproc {
namespace {

constexpr uint64_t kGiga = uint64_t{1} << 30;

TEST(MemoryLimitTest, SizesMayHaveUnits) {
  EXPECT_EQ(ParseByteSize("4096"), 4096u);
  EXPECT_EQ(ParseByteSize("512k"), 512u << 10);
  EXPECT_EQ(ParseByteSize("512M"), 512u << 20);
  EXPECT_EQ(ParseByteSize("2g"), 2 * kGiga);
  EXPECT_EQ(ParseByteSize("3T"), 3072 * kGiga);
  for (const char* text : {"", "g", "-1", "1.5g", "2gb", "9999999999t"}) {
    EXPECT_EQ(ParseByteSize(text), std::nullopt) << text;
  }
}

TEST(MemoryLimitTest, SizesAreShownRounded) {
  EXPECT_EQ(ByteSizeText(12), "12 bytes");
  EXPECT_EQ(ByteSizeText(92 << 10), "92 KB");
  EXPECT_EQ(ByteSizeText(512 << 20), "512 MB");
  EXPECT_EQ(ByteSizeText(3 * kGiga / 2), "1.5 GB");
}

TEST(MemoryLimitTest, TheLimitFollowsTheSizeOfTheTraces) {
  EXPECT_EQ(MemoryForTraces(0, 0), kGiga);
  EXPECT_EQ(MemoryForTraces(kGiga / 1024, 0), 2 * kGiga);
  EXPECT_EQ(MemoryForTraces(kGiga, 8 * kGiga), 6 * kGiga) << "no more than the machine has";
  EXPECT_EQ(MemoryForTraces(UINT64_MAX, 0), UINT64_MAX);
}

// What is named is the limit that is reached first.
TEST(MemoryLimitTest, TheProcessMayHaveBeenStartedWithLess) {
  constexpr uint64_t kNone = UINT64_MAX;
  const ProcessMemory used = {.address_space = kGiga, .data = kGiga / 2};
  EXPECT_EQ(EarlierLimit(4 * kGiga, used, {kNone, kNone}), "");
  EXPECT_EQ(EarlierLimit(4 * kGiga, used, {2 * kGiga, kNone}), "2.0 GB (ulimit -v)");
  EXPECT_EQ(EarlierLimit(4 * kGiga, used, {5 * kGiga, kNone}), "");
  EXPECT_EQ(EarlierLimit(4 * kGiga, used, {kNone, 3 * kGiga}), "3.0 GB (ulimit -d)");
  EXPECT_EQ(EarlierLimit(4 * kGiga, used, {kGiga / 2, 3 * kGiga}), "512 MB (ulimit -v)");
  EXPECT_EQ(EarlierLimit(4 * kGiga, used, {kNone, 4 * kGiga}), "");
  EXPECT_GT(UsedMemory().address_space, UsedMemory().data);
  EXPECT_GT(UsedMemory().data, 0u);
}

// A folder of control groups.
class Groups {
 public:
  Groups() : root_(testing::TempDir() + "/memory_limit_test." + std::to_string(getpid())) {}
  ~Groups() { std::filesystem::remove_all(root_); }
  void Write(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = root_ + "/" + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  const std::string& root() const { return root_; }

 private:
  std::string root_;
};

TEST(MemoryLimitTest, TheLeastLimitOfAllGroupsHolds) {
  const Groups groups;
  groups.Write("outer/memory.max", "3000000\n");
  groups.Write("outer/inner/memory.max", "max\n");
  EXPECT_EQ(MemoryOfGroups("0::/outer/inner\n", groups.root(), 5000000), 3000000u);
  EXPECT_EQ(MemoryOfGroups("0::/outer/inner\n", groups.root(), 2000000), 2000000u);
  EXPECT_EQ(MemoryOfGroups("0::/elsewhere\n", groups.root(), 5000000), 5000000u);
  EXPECT_EQ(MemoryOfGroups("nonsense\n", groups.root(), 0), 0u);
}

TEST(MemoryLimitTest, GroupsOfVersionOneHaveFoldersByController) {
  const Groups groups;
  groups.Write("memory/memory.limit_in_bytes", "9223372036854771712\n");
  groups.Write("memory/job/memory.limit_in_bytes", "4000000\n");
  EXPECT_EQ(MemoryOfGroups("5:cpu,cpuacct:/\n4:memory:/job\n", groups.root(), 5000000), 4000000u);
}

}  // namespace
}  // namespace jtrace::postproc
