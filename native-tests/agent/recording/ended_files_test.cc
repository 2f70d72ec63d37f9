// Which files of loop= keep= removes, in a folder of its own.
#include "agent/recording/ended_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace {

int unlink_error = 0;  // 0: files can be removed

}  // namespace

// Replaces the C library's.
extern "C" int unlinkat(int folder, const char* name, int flags) noexcept {
  if (unlink_error == 0) return static_cast<int>(syscall(SYS_unlinkat, folder, name, flags));
  errno = unlink_error;
  return -1;
}

namespace jtrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kSize = 1000;  // of each file, about

class EndedFilesTest : public ::testing::Test {
 protected:
  EndedFilesTest() : folder_(absl::StrCat(::testing::TempDir(), "/ended.", getpid())) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  }
  ~EndedFilesTest() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return absl::StrCat(folder_, "/", name); }

  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name), std::ios::binary) << text;
  }

  // As a recording does that goes on in the next file.
  void End(const std::string& name) {
    auto file = trace::TraceFile::Create(Path(name));
    ASSERT_TRUE(file.ok()) << file.status();
    std::string noise(kSize, '\0');  // which cannot be compressed
    for (char& byte : noise) byte = static_cast<char>(random_());
    ASSERT_TRUE((*file)->Append(noise).ok());
    ended_.Add(*std::move(file));
  }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  std::string Warnings() const {
    std::string text;
    for (const LossRow& row : losses_.Snapshot()) {
      if (row.severity != Severity::kInfo) absl::StrAppend(&text, row.count, " ", row.what, "\n");
    }
    return text;
  }

  const std::string folder_;
  std::minstd_rand random_;
  uint64_t missing_ = 0;  // free space of the disk
  Losses losses_;
  EndedFiles ended_{losses_, [this](const std::string&) { return missing_; }};
};

TEST_F(EndedFilesTest, TheOldestBeyondANumberAreRemoved) {
  ended_.SetKeep({.files = 2});
  for (const char* name : {"d", "a", "c", "b", "e"}) End(name);
  EXPECT_THAT(Names(), ElementsAre("b", "e"));
  EXPECT_EQ(ended_.Left().files, 2U);
  EXPECT_EQ(ended_.removed().files, 3U);
  EXPECT_EQ(losses_.Count("loop.dropped"), 3U);
  EXPECT_EQ(losses_.Count("loop.dropped_bytes"), ended_.removed().bytes);
  EXPECT_GT(ended_.removed().bytes, 3 * kSize);
  EXPECT_THAT(Warnings(), IsEmpty());
}

TEST_F(EndedFilesTest, TheOldestBeyondASizeAreRemoved) {
  ended_.SetKeep({.bytes = 7 * kSize / 2});  // three have a little more than 3 * kSize
  for (const char* name : {"1", "2", "3"}) End(name);
  EXPECT_THAT(Names(), ElementsAre("1", "2", "3"));
  End("4");
  EXPECT_THAT(Names(), ElementsAre("2", "3", "4"));
  EXPECT_LE(ended_.Left().bytes, 7 * kSize / 2);
}

TEST_F(EndedFilesTest, WithoutABoundAllStay) {
  missing_ = 1'000'000;
  for (const char* name : {"1", "2", "3"}) End(name);
  EXPECT_FALSE(ended_.MakeRoom(1));
  EXPECT_THAT(Names(), ElementsAre("1", "2", "3"));
}

TEST_F(EndedFilesTest, NoOtherFileIsRemoved) {
  ended_.SetKeep({.files = 1});
  for (const char* name : {"0", "1.bak", "11", ".1"}) Write(name, "somebody's");
  End("1");
  End("2");
  EXPECT_THAT(Names(), ElementsAre(".1", "0", "1.bak", "11", "2"));
  // Another one with the name of one of ours, which was moved.
  std::filesystem::rename(Path("2"), Path("moved"));
  Write("2", "somebody's");
  End("3");
  End("4");
  EXPECT_THAT(Names(), ElementsAre(".1", "0", "1.bak", "11", "2", "4", "moved"));
}

// Another JVM records into the same file, and ends it.
TEST_F(EndedFilesTest, AFileThatWasWrittenAnewIsAnothersFile) {
  ended_.SetKeep({.files = 1});
  End("1");
  const auto size = std::filesystem::file_size(Path("1"));
  const auto before = std::filesystem::last_write_time(Path("1"));
  Write("1", std::string(size, 'x'));
  std::filesystem::last_write_time(Path("1"), before + std::chrono::milliseconds(1));
  End("2");
  End("3");
  EXPECT_THAT(Names(), ElementsAre("1", "3"));
}

TEST_F(EndedFilesTest, AFolderInPlaceOfTheFolderIsAnothersFolder) {
  ended_.SetKeep({.files = 1});
  End("1");
  std::filesystem::rename(folder_, folder_ + ".old");
  std::filesystem::create_directory(folder_);
  Write("1", "somebody's");
  End("2");
  EXPECT_THAT(Names(), ElementsAre("1", "2"));
  EXPECT_TRUE(std::filesystem::exists(folder_ + ".old/1"));
  std::filesystem::remove_all(folder_ + ".old");
}

// As the shipper has it while it delivers the file.
TEST_F(EndedFilesTest, ALockedFileStaysAndTheNextOneIsRemoved) {
  ended_.SetKeep({.files = 2});
  End("1");
  const int fd = open(Path("1").c_str(), O_RDONLY);
  ASSERT_EQ(flock(fd, LOCK_EX | LOCK_NB), 0);
  for (const char* name : {"2", "3", "4"}) End(name);
  EXPECT_THAT(Names(), ElementsAre("1", "4"));
  close(fd);
  End("5");
  EXPECT_THAT(Names(), ElementsAre("4", "5"));
  EXPECT_THAT(Warnings(), IsEmpty());
}

TEST_F(EndedFilesTest, WhatAShipperTookDoesNotCount) {
  ended_.SetKeep({.files = 3});
  for (const char* name : {"1", "2", "3"}) End(name);
  std::filesystem::create_directory(Path("shipped"));
  std::filesystem::rename(Path("2"), Path("shipped/2"));
  std::filesystem::remove(Path("3"));
  for (const char* name : {"4", "5"}) End(name);
  EXPECT_THAT(Names(), ElementsAre("1", "4", "5", "shipped"));
  EXPECT_EQ(ended_.removed().files, 0U);
  End("6");
  EXPECT_THAT(Names(), ElementsAre("4", "5", "6", "shipped"));
  EXPECT_TRUE(std::filesystem::exists(Path("shipped/2")));
}

TEST_F(EndedFilesTest, AFullDiskHasRoomForWhatIsWritten) {
  ended_.SetKeep({.files = 100});
  for (const char* name : {"1", "2", "3", "4"}) End(name);
  EXPECT_TRUE(ended_.MakeRoom(1));
  EXPECT_THAT(Names(), ElementsAre("2", "3", "4"));
  EXPECT_TRUE(ended_.MakeRoom(kSize + kSize / 2));
  EXPECT_THAT(Names(), ElementsAre("4"));
  EXPECT_TRUE(ended_.MakeRoom(100 * kSize));
  EXPECT_FALSE(ended_.MakeRoom(1)) << "nothing is left";
  EXPECT_THAT(Warnings(), HasSubstr("4 old files of loop= removed before keep= says so"));
}

TEST_F(EndedFilesTest, ANearlyFullDiskKeepsLess) {
  ended_.SetKeep({.files = 100});
  for (const char* name : {"1", "2", "3"}) End(name);
  missing_ = kSize + kSize / 2;
  End("4");
  EXPECT_THAT(Names(), ElementsAre("3", "4"));
  EXPECT_EQ(losses_.Count("loop.disk_full"), 2U);
  EXPECT_EQ(losses_.Count("loop.dropped"), 2U);
}

TEST_F(EndedFilesTest, TheReserveIsAShareOfTheDisk) {
  EXPECT_LE(EndedFiles::ReserveShortfall(folder_), 100u << 20);
  EXPECT_EQ(EndedFiles::ReserveShortfall("/proc"), 0U) << "it has no size";
  EXPECT_EQ(EndedFiles::ReserveShortfall("/nowhere"), 0U);
}

TEST_F(EndedFilesTest, WhatCannotBeRemovedIsReported) {
  ended_.SetKeep({.files = 1});
  unlink_error = EROFS;
  for (const char* name : {"1", "2", "3"}) End(name);
  unlink_error = 0;
  EXPECT_THAT(Names(), ElementsAre("1", "2", "3"));
  EXPECT_THAT(Warnings(), HasSubstr("attempts to remove an old file of loop= that failed"));
  EXPECT_THAT(Warnings(), HasSubstr("/1 (Read-only file system)"));
  End("4");
  EXPECT_THAT(Names(), ElementsAre("4"));
}

}  // namespace
}  // namespace jtrace
