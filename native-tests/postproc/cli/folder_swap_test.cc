// A folder's contents are replaced in one step, whatever happens between two steps.
#include "postproc/cli/folder_swap.h"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <set>

#include "postproc/fleet/merged_runs.h"

namespace jtrace::control {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

void Write(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }

// What a reader finds in the folder: the files' contents.
std::set<std::string> Contents(const fs::path& folder) {
  std::set<std::string> contents;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename().string().starts_with('_')) continue;
    std::ifstream in(entry.path());
    contents.insert({std::istreambuf_iterator<char>(in), {}});
  }
  return contents;
}

class FolderSwapTest : public ::testing::Test {
 protected:
  FolderSwapTest() {
    fs::remove_all(top_);
    fs::create_directories(current_);
    Write(current_ / "1.parquet", "one");
    Write(current_ / "2.parquet", "two");
  }

  // The steps of a compaction up to the exchange.
  std::vector<FileFacts> Prepare() {
    const std::vector<FileFacts> before = *FilesOf(current_);
    EXPECT_TRUE(BeginSwap(current_, spare_).ok());
    Write(spare_ / "merged-12.parquet", "one and two");
    return before;
  }

  void ExpectSwapped() {
    EXPECT_TRUE(*FinishSwap(current_, spare_));
    EXPECT_THAT(Contents(current_), ElementsAre("one and two"));
    EXPECT_FALSE(fs::exists(spare_));
  }

  const fs::path top_ = fs::path(::testing::TempDir()) / "swap";
  const fs::path current_ = top_ / "runs/host=a";
  const fs::path spare_ = top_ / "_compact/runs/host=a";
};

TEST_F(FolderSwapTest, TheNewFilesReplaceAllOthers) {
  const auto before = Prepare();
  EXPECT_THAT(Contents(current_), ElementsAre("one", "two"));
  ASSERT_TRUE(Swap(current_, spare_, before).ok());
  EXPECT_THAT(Contents(current_), ElementsAre("one and two"));
  ExpectSwapped();
}

TEST_F(FolderSwapTest, KilledBeforeTheExchangeNothingHasChanged) {
  Prepare();
  EXPECT_FALSE(*FinishSwap(current_, spare_));
  EXPECT_THAT(Contents(current_), ElementsAre("one", "two"));
  EXPECT_FALSE(fs::exists(spare_));
}

TEST_F(FolderSwapTest, KilledWhileTheOldFilesAreRemovedTheRestGoesLater) {
  const auto before = Prepare();
  ASSERT_TRUE(Swap(current_, spare_, before).ok());
  fs::remove(spare_ / "1.parquet");
  ExpectSwapped();
}

// The mark of the new contents stays behind; the next swap must not take the old ones for new.
TEST_F(FolderSwapTest, KilledAtTheVeryEndTheNextSwapWorks) {
  const auto before = Prepare();
  ASSERT_TRUE(Swap(current_, spare_, before).ok());
  fs::remove_all(spare_);
  Write(current_ / "3.parquet", "three");
  const std::vector<FileFacts> again = *FilesOf(current_);
  ASSERT_TRUE(BeginSwap(current_, spare_).ok());
  Write(spare_ / "merged-123.parquet", "one, two and three");
  ASSERT_TRUE(Swap(current_, spare_, again).ok());
  EXPECT_TRUE(*FinishSwap(current_, spare_));
  EXPECT_THAT(Contents(current_), ElementsAre("one, two and three"));
}

TEST_F(FolderSwapTest, AFileThatCameMeanwhileIsNotLost) {
  const auto before = Prepare();
  Write(current_ / "3.parquet", "three");  // after it was listed
  ASSERT_TRUE(Swap(current_, spare_, before).ok());
  Write(current_ / "4.parquet", "four");  // after the exchange
  EXPECT_FALSE(*FinishSwap(current_, spare_));
  EXPECT_THAT(Contents(current_), ElementsAre("four", "one", "three", "two"));
  EXPECT_FALSE(fs::exists(spare_));
}

TEST_F(FolderSwapTest, AFileThatWasReplacedMeanwhileCounts) {
  const auto before = Prepare();
  Write(current_ / "2.parquet.7.part", "two again");
  fs::rename(current_ / "2.parquet.7.part", current_ / "2.parquet");
  ASSERT_TRUE(Swap(current_, spare_, before).ok());
  EXPECT_FALSE(*FinishSwap(current_, spare_));
  EXPECT_THAT(Contents(current_), ElementsAre("one", "two again"));
}

// A table that somebody renamed, and a subfolder: nothing that was not merged is removed.
TEST_F(FolderSwapTest, StrangersAreFoundAndStay) {
  EXPECT_EQ(*StrangerIn(current_), "");
  for (const char* own : {"_new", "_merged", "_runs", "_runs.7.part", "3.parquet.7.part"}) {
    Write(current_ / own, "");
    EXPECT_EQ(*StrangerIn(current_), "") << own;
  }
  for (const char* other :
       {"_1.parquet", ".1.parquet", "NOTES.txt", "x.7.part", "1.parquet.part"}) {
    Write(current_ / other, other);
    EXPECT_EQ(*StrangerIn(current_), other);
    fs::remove(current_ / other);
  }
  const auto before = Prepare();
  Write(current_ / "_1.parquet", "hidden");
  fs::create_directories(current_ / "a.parquet/below");
  EXPECT_EQ(*StrangerIn(current_), "_1.parquet");
  ASSERT_TRUE(Swap(current_, spare_, before).ok());
  Write(current_ / "NOTES.txt", "late");
  EXPECT_FALSE(*FinishSwap(current_, spare_));
  EXPECT_TRUE(fs::exists(current_ / "_1.parquet"));
  EXPECT_TRUE(fs::exists(current_ / "NOTES.txt"));
  EXPECT_TRUE(fs::exists(current_ / "a.parquet/below"));
  EXPECT_TRUE(fs::exists(current_ / "1.parquet"));
  EXPECT_FALSE(fs::exists(spare_));
}

// There is no way back then.
TEST_F(FolderSwapTest, AStrangerAmongHalfRemovedFilesGoesToTheNewOnes) {
  const auto before = Prepare();
  ASSERT_TRUE(Swap(current_, spare_, before).ok());
  fs::remove(spare_ / "1.parquet");
  Write(spare_ / "NOTES.txt", "notes");
  EXPECT_TRUE(*FinishSwap(current_, spare_));
  EXPECT_THAT(Contents(current_), ElementsAre("notes", "one and two"));
  EXPECT_FALSE(fs::exists(spare_));
}

TEST_F(FolderSwapTest, WhereFoldersCannotBeExchangedNothingChanges) {
  const auto before = Prepare();
  fs::rename(current_, top_ / "moved");
  const absl::Status status = Swap(current_, spare_, before);
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("cannot exchange two folders"));
  fs::rename(top_ / "moved", current_);
  EXPECT_FALSE(*FinishSwap(current_, spare_));
  EXPECT_THAT(Contents(current_), ElementsAre("one", "two"));
}

TEST(MergedRunsTest, AreReadAsTheyWereWritten) {
  using postproc::fleet::ReadMergedRuns;
  const fs::path folder = fs::path(::testing::TempDir()) / "merged";
  fs::create_directories(folder);
  EXPECT_TRUE(ReadMergedRuns(folder / "none").empty());
  ASSERT_TRUE(postproc::fleet::WriteMergedRuns(folder, {7, INT64_MIN, -1}).ok());
  EXPECT_THAT(ReadMergedRuns(folder), ::testing::UnorderedElementsAre(7, INT64_MIN, -1));
}

}  // namespace
}  // namespace jtrace::control
