// The shipper's own folders, in a folder where others may put anything.
#include "postproc/ship/own_folder.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/time/clock.h"
#include "native-tests/postproc/ship/trace_folder.h"
#include "postproc/ship/durable.h"
#include "postproc/ship/parquet_target.h"

namespace jtrace::ship {
namespace {

using ::testing::HasSubstr;
using testing::TraceFolder;

TEST(OwnFolderTest, IsMadeForThisUserAlone) {
  const TraceFolder folder("own");
  EXPECT_TRUE(absl::IsNotFound(OwnFolder::Find(folder.path(), "a/b").status()));
  ASSERT_TRUE(OwnFolder::Make(folder.path(), "a/b").ok());
  EXPECT_TRUE(OwnFolder::Find(folder.path(), "a/b").ok());
  struct stat info;
  ASSERT_EQ(stat(folder.File("a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);
}

TEST(OwnFolderTest, LinksAreRefused) {
  const TraceFolder folder("own2");
  std::filesystem::create_directories(folder.File("victim/b"));
  std::filesystem::create_directory_symlink("victim", folder.File("a"));
  for (const char* below : {"a", "a/b"}) {
    const absl::Status status = OwnFolder::Make(folder.path(), below).status();
    EXPECT_THAT(std::string(status.message()), HasSubstr("/a is a link or a file")) << below;
  }
}

TEST(OwnFolderTest, FoldersOfOtherUsersAreRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make them";
  const TraceFolder folder("own3");
  std::filesystem::create_directory(folder.File("a"));
  ASSERT_EQ(chown(folder.File("a").c_str(), 65534, 65534), 0);
  const absl::Status status = OwnFolder::Make(folder.path(), "a").status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("is of another user (65534)"));
}

TEST(OwnFolderTest, NotesGoThroughNoLink) {
  const TraceFolder folder("own4");
  const auto own = OwnFolder::Make(folder.path(), "a");
  ASSERT_TRUE(own.ok());
  folder.Write("victim", "precious", absl::Now());
  std::filesystem::create_symlink(folder.File("victim"), folder.File("a/note.part"));
  EXPECT_FALSE(WriteDurably(*own, "note", "x").ok());
  EXPECT_EQ(folder.Text("victim"), "precious");
}

TEST(OwnFolderTest, LongNamesGetShortNotes) {
  const std::string name(250, 'a');
  EXPECT_EQ(NoteName("a.bin"), "a.bin");
  EXPECT_LT(NoteName(name).size(), 30U);
  EXPECT_NE(NoteName(name), NoteName(name + "b"));
}

TEST(ParquetTargetTest, OnlyPartsOfTablesAreAbandoned) {
  const TraceFolder folder("parts");
  const absl::Time old = absl::Now() - absl::Hours(1);
  const std::string place = "nodes/service=s/day=2026-01-01/host=h";
  std::filesystem::create_directories(folder.File(place));
  std::filesystem::create_directories(folder.File("other/service=s/day=d/host=h"));
  const std::vector<std::string> others = {place + "/movie.mkv.part", place + "/1.parquet.part",
                                           place + "/1.parquet.x7.part", "nodes/1.parquet.7.part",
                                           "other/service=s/day=d/host=h/1.parquet.7.part"};
  for (const std::string& name : others) folder.Write(name, "x", old);
  folder.Write(place + "/1.parquet.7.part", "x", old);
  folder.Write(place + "/2.parquet.7.part", "x", absl::Now());
  ParquetTarget target(folder.path(), {});
  ASSERT_TRUE(target.Open().ok());
  EXPECT_FALSE(folder.Has(place + "/1.parquet.7.part"));
  EXPECT_TRUE(folder.Has(place + "/2.parquet.7.part"));
  for (const std::string& name : others) EXPECT_TRUE(folder.Has(name)) << name;
}

}  // namespace
}  // namespace jtrace::ship
