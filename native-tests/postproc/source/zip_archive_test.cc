// Archives of sources: both ways of compression, zip64, and every kind of damage.
#include "postproc/source/zip_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "native-tests/support/zip_builder.h"

namespace jtrace {
namespace {

using postproc::InputFile;
using postproc::ZipArchive;
using ::testing::HasSubstr;
using testing::ZipBuilder;

const std::string kLong(5000, 'x');

ZipBuilder TwoFiles() {
  ZipBuilder builder;
  builder.Stored("a/A.java", "class A {}\n").Stored("a/", "").Deflated("b/B.java", kLong);
  return builder;
}

absl::StatusOr<ZipArchive> Open(const std::string& bytes) {
  return ZipArchive::FromFile(InputFile::FromMemory(bytes), "x.zip");
}

// All contents, or the first error.
std::string Contents(const std::string& bytes) {
  const absl::StatusOr<ZipArchive> zip = Open(bytes);
  if (!zip.ok()) return "error: " + std::string(zip.status().message());
  std::string all;
  for (const postproc::ZipEntry& entry : zip->entries()) {
    const absl::StatusOr<std::string> content = zip->Read(entry);
    if (!content.ok()) return "error: " + std::string(content.status().message());
    all += std::string(entry.name) + "=" + *content + ";";
  }
  return all;
}

const std::string kWhole = "a/A.java=class A {}\n;b/B.java=" + kLong + ";";

TEST(ZipArchiveTest, ReadsStoredAndDeflatedFiles) {
  EXPECT_EQ(Contents(TwoFiles().Finish()), kWhole);
  EXPECT_EQ(Contents(TwoFiles().Finish("a comment with PK\5\6 in it, longer than a record")),
            kWhole);
  EXPECT_EQ(Contents(TwoFiles().Finish64()), kWhole);
  EXPECT_EQ(Contents("#! /bin/sh, before an archive"),
            "error: cannot read x.zip: it is not a zip "
            "archive, or its end is missing");
  EXPECT_EQ(Contents(ZipBuilder().Finish()), "");
  EXPECT_EQ(Contents(ZipBuilder().Stored("empty", "").Deflated("none", "").Finish()),
            "empty=;none=;");
}

TEST(ZipArchiveTest, EveryCutArchiveIsAnError) {
  const std::string whole = TwoFiles().Finish();
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(Contents(whole.substr(0, size)), HasSubstr("error: cannot read x.zip: ")) << size;
  }
}

// A flipped bit changes a content only where the check sum sees it, so the contents are those of
// the whole archive, or there is an error, or an entry has another name.
TEST(ZipArchiveTest, NoFlippedBitGivesAnotherContent) {
  const std::string whole = TwoFiles().Finish();
  size_t errors = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      const absl::StatusOr<ZipArchive> zip = Open(damaged);
      if (!zip.ok()) {
        ++errors;
        continue;
      }
      for (const postproc::ZipEntry& entry : zip->entries()) {
        const absl::StatusOr<std::string> content = zip->Read(entry);
        errors += content.ok() ? 0 : 1;
        const std::string text = content.ok() ? *content : "";
        EXPECT_TRUE(text == "class A {}\n" || text == kLong || text.empty()) << at;
      }
    }
  }
  EXPECT_GT(errors, whole.size());
}

TEST(ZipArchiveTest, BoundsTheSizeThatAnArchiveClaims) {
  ZipBuilder huge;
  huge.ClaimSize(0xf0000000).Deflated("bomb", kLong);
  EXPECT_EQ(Contents(huge.Finish()), "error: cannot read x.zip: bomb in it is too large");
  ZipBuilder more;
  more.ClaimSize(6000).Deflated("short", kLong);
  EXPECT_EQ(Contents(more.Finish()), "error: cannot read x.zip: short in it is damaged");
  ZipBuilder less;
  less.ClaimSize(100).Deflated("long", kLong);
  EXPECT_EQ(Contents(less.Finish()), "error: cannot read x.zip: long in it is damaged");
}

}  // namespace
}  // namespace jtrace
