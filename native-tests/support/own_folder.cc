// testing::TempDir() is a folder of this process, removed when it ends: CTest runs each test of a
// suite as a process, several at once, and the suites name their files without regard to that.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "gtest/gtest.h"

namespace {

constexpr char kVariable[] = "TEST_TMPDIR";

class OwnFolder {
 public:
  OwnFolder() {
    // Death tests start this program again, in its folder.
    if (const char* given = std::getenv("JTRACE_TEST_FOLDER")) {
      setenv(kVariable, given, 1);
      return;
    }
    path_ = std::filesystem::path(testing::TempDir()) / "jtrace-testXXXXXX";
    if (mkdtemp(path_.data()) == nullptr) {
      std::perror(path_.c_str());
      std::abort();
    }
    setenv(kVariable, path_.c_str(), 1);
    setenv("JTRACE_TEST_FOLDER", path_.c_str(), 1);
  }
  ~OwnFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

 private:
  std::string path_;
};

const OwnFolder folder;

}  // namespace
