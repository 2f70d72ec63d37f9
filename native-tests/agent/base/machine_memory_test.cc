#include "agent/base/machine_memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"

namespace jtrace {
namespace {

constexpr uint64_t kMegabyte = 1 << 20;
constexpr uint64_t kGigabyte = 1 << 30;
constexpr absl::string_view kMeminfo =
    "MemTotal:       16000000 kB\nMemFree:         1000000 kB\nMemAvailable:    8388608 kB\n";

class MachineMemoryTest : public testing::Test {
 protected:
  MachineMemoryTest() : mount_(absl::StrCat(testing::TempDir(), "/groups")) {
    std::filesystem::remove_all(mount_);
  }
  ~MachineMemoryTest() override { std::filesystem::remove_all(mount_); }

  void Put(const std::string& path, absl::string_view text) {
    const std::filesystem::path file = mount_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  uint64_t Available(absl::string_view groups) {
    return AvailableMemoryOf(kMeminfo, groups, mount_);
  }

  const std::string mount_;
};

TEST_F(MachineMemoryTest, IsTheMachinesWithoutGroups) {
  EXPECT_EQ(Available(""), 8 * kGigabyte);
  EXPECT_EQ(Available("0::/\n"), 8 * kGigabyte);
  EXPECT_EQ(AvailableMemoryOf("", "", mount_), 0u);
}

TEST_F(MachineMemoryTest, IsTheSmallestRestOfTheGroupsOnThePath) {
  Put("/a/memory.max", "2147483648\n");
  Put("/a/memory.current", "1610612736\n");
  Put("/a/memory.stat", "anon 5\ninactive_file 536870912\nactive_file 7\n");
  Put("/a/b/memory.max", "max\n");
  Put("/a/b/memory.current", "1000\n");
  EXPECT_EQ(Available("0::/a/b\n"), kGigabyte);
  EXPECT_EQ(Available("0::/c\n"), 8 * kGigabyte);
}

TEST_F(MachineMemoryTest, KnowsTheFirstVersionOfGroups) {
  Put("/memory/memory.limit_in_bytes", "9223372036854771712\n");
  Put("/memory/docker/x/memory.limit_in_bytes", "1073741824\n");
  Put("/memory/docker/x/memory.usage_in_bytes", "1073741824\n");
  Put("/memory/docker/x/memory.stat", "total_inactive_file 1048576\n");
  EXPECT_EQ(Available("5:cpu,cpuacct:/docker/x\n4:hugetlb,memory:/docker/x\n"), kMegabyte);
}

// A container without a namespace for groups: /proc says where it is on the host.
TEST_F(MachineMemoryTest, FindsTheGroupAtTheMountIfItsPathIsNotThere) {
  Put("/memory.max", "1073741824\n");
  Put("/memory.current", "0\n");
  EXPECT_EQ(Available("0::/host/docker/x\n"), kGigabyte);
}

TEST(DefaultTreeMemoryTest, LeavesRoomForTheHeap) {
  EXPECT_EQ(DefaultTreeMemory(2 * kGigabyte, kGigabyte), 512 * kMegabyte);
  EXPECT_EQ(DefaultTreeMemory(kGigabyte + 200 * kMegabyte, kGigabyte), 96 * kMegabyte);
}

TEST(DefaultTreeMemoryTest, IsBounded) {
  EXPECT_EQ(DefaultTreeMemory(kGigabyte, 4 * kGigabyte), 64 * kMegabyte);
  EXPECT_EQ(DefaultTreeMemory(500 * kGigabyte, kGigabyte), kGigabyte);
  EXPECT_EQ(DefaultTreeMemory(0, kGigabyte), 512 * kMegabyte);
}

}  // namespace
}  // namespace jtrace
