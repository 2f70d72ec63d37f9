#include "agent/log.h"

#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace jtrace {
namespace {

TEST(LogTest, UnwritableFileIsToldInOneLine) {
  for (const char* path : {"/nonexistent/x.log", "/tmp"}) {
    const auto log = Log::Open(LogTarget::kFile, path);
    ASSERT_EQ(log.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(log.status().message()),
                testing::StartsWith(absl::StrCat("option 'log': cannot write '", path, "': ")));
    EXPECT_THAT(std::string(log.status().message()), testing::Not(testing::HasSubstr("\n")));
  }
}

TEST(LogTest, LinesAreAppended) {
  const std::string path = absl::StrCat(testing::TempDir(), "/lines.log");
  std::ofstream(path) << "before\n";
  const auto log = Log::Open(LogTarget::kFile, path);
  ASSERT_TRUE(log.ok());
  (*log)->Line("one");
  (*log)->Line("two");
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}),
            "before\njtrace: one\njtrace: two\n");
}

}  // namespace
}  // namespace jtrace
