#include "agent/recording/message_log.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace jtrace {
namespace {

TEST(LogTest, UnwritableFileIsReportedInOneLine) {
  for (const char* path : {"/nonexistent/x.log", "/tmp"}) {
    const auto log = MessageLog::Open(LogTarget::kFile, path);
    ASSERT_EQ(log.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(log.status().message()),
                testing::StartsWith(absl::StrCat("option 'log': cannot write '", path, "': ")));
    EXPECT_THAT(std::string(log.status().message()), testing::Not(testing::HasSubstr("\n")));
  }
}

TEST(LogTest, FilesOfOthersAreLeftAlone) {
  const std::string path = absl::StrCat(testing::TempDir(), "/other.", getpid(), ".log");
  const std::string link = path + ".link";
  std::ofstream(path) << "theirs\n";
  ASSERT_EQ(::link(path.c_str(), link.c_str()), 0);
  EXPECT_THAT(std::string(MessageLog::Open(LogTarget::kFile, path).status().message()),
              testing::HasSubstr("second name (a hard link)"));
  unlink(link.c_str());
  if (geteuid() == 0) {
    ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
    EXPECT_THAT(std::string(MessageLog::Open(LogTarget::kFile, path).status().message()),
                testing::HasSubstr("it belongs to another user"));
  }
  unlink(path.c_str());
}

// The system's messages would say "no such device" for a pipe without a reader, and a loop for a
// link.
TEST(LogTest, PipesAndLinksAreNamed) {
  const std::string path = absl::StrCat(testing::TempDir(), "/special.", getpid(), ".log");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(std::string(MessageLog::Open(LogTarget::kFile, path).status().message()),
              testing::HasSubstr("': it is not a file; choose another"));
  unlink(path.c_str());
  ASSERT_EQ(symlink("/dev/null", path.c_str()), 0);
  EXPECT_THAT(std::string(MessageLog::Open(LogTarget::kFile, path).status().message()),
              testing::HasSubstr("': it is a symbolic link; choose another"));
  unlink(path.c_str());
}

TEST(LogTest, LinesAreAppended) {
  const std::string path = absl::StrCat(testing::TempDir(), "/lines.log");
  std::ofstream(path) << "before\n";
  const auto log = MessageLog::Open(LogTarget::kFile, path);
  ASSERT_TRUE(log.ok());
  (*log)->Line("one");
  (*log)->Line("two");
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}),
            "before\njtrace: one\njtrace: two\n");
}

TEST(LogTest, MessagesAreOneLineOfVisibleText) {
  const std::string path = absl::StrCat(testing::TempDir(), "/quotes.", getpid(), ".log");
  const auto log = MessageLog::Open(LogTarget::kFile, path);
  ASSERT_TRUE(log.ok());
  (*log)->Line("class a\x1b[2J\n\u202Eb");
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}),
            "jtrace: class a\\x1b[2J\\x0a\\u202eb\n");
  unlink(path.c_str());
}

}  // namespace
}  // namespace jtrace
