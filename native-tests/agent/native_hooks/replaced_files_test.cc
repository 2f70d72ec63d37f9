// Libraries whose files change while they are loaded: package upgrades, files that are unpacked,
// loaded and deleted.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "agent/native_hooks/hook_targets.h"
#include "agent/native_hooks/object_functions.h"

namespace jtrace::native_hooks {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

fs::path Built(const std::string& build) {
  return fs::path(JTRACE_UPGRADES) / absl::StrCat("libhooked_", build, ".so");
}

// A loaded copy of a build of the library, whose file the test may change.
class Copy {
 public:
  explicit Copy(const std::string& build) {
    static int number = 0;
    file_ = fs::path(testing::TempDir()) / absl::StrCat("upgrade", getpid(), "_", ++number, ".so");
    fs::copy_file(Built(build), file_, fs::copy_options::overwrite_existing);
    handle_ = dlopen(file_.c_str(), RTLD_NOW);
    EXPECT_NE(handle_, nullptr) << dlerror();
  }
  ~Copy() {
    dlclose(handle_);
    fs::remove(file_);
  }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  void Delete() const { fs::remove(file_); }
  void ReplaceBy(const std::string& build) const {
    const fs::path next = absl::StrCat(file_.string(), ".next");
    fs::copy_file(Built(build), next, fs::copy_options::overwrite_existing);
    fs::rename(next, file_);
  }
  uintptr_t Address(const char* symbol) const {
    return reinterpret_cast<uintptr_t>(dlsym(handle_, symbol));
  }
  LoadedDso Object() const {
    for (const LoadedDso& object : LoadedDsos()) {
      if (object.path == file_) return object;
    }
    ADD_FAILURE() << file_ << " is not loaded";
    return {};
  }
  absl::StatusOr<std::vector<Target>> Resolve(const std::string& symbol) const {
    return ResolveHook({file_.filename(), symbol, HookKind::kCount}, LoadedDsos());
  }
  std::string Error(const std::string& symbol) const {
    return std::string(Resolve(symbol).status().message());
  }

 private:
  fs::path file_;
  void* handle_ = nullptr;
};

void ExpectFound(const Copy& copy, const char* symbol) {
  const auto targets = copy.Resolve(symbol);
  ASSERT_TRUE(targets.ok()) << targets.status();
  ASSERT_EQ(targets->size(), 1u);
  EXPECT_EQ((*targets)[0].function.address, copy.Address(symbol)) << symbol;
  EXPECT_EQ(FunctionAt((*targets)[0].object, copy.Address(symbol)).symbol, symbol);
}

TEST(ReplacedFilesTest, AnUnchangedFileHasAllFunctions) {
  for (const char* build : {"upgrade_old", "plain_old"}) {
    const Copy copy(build);
    EXPECT_EQ(StateOfFile(copy.Object()), FileState::kSame);
    EXPECT_EQ(copy.Object().build_id.empty(), build == std::string("plain_old"));
    ExpectFound(copy, "upgrade_slow");
    EXPECT_TRUE(copy.Resolve("upgrade_internal").ok());
  }
}

// The file's addresses now belong to other functions.
TEST(ReplacedFilesTest, AnUpgradeMisplacesNoHook) {
  for (const char* version : {"upgrade", "plain"}) {
    const Copy copy(absl::StrCat(version, "_old"));
    const uintptr_t offset = copy.Address("upgrade_slow") - copy.Object().bias;
    copy.ReplaceBy(absl::StrCat(version, "_new"));
    EXPECT_EQ(StateOfFile(copy.Object()), FileState::kReplaced);
    ExpectFound(copy, "upgrade_slow");
    ExpectFound(copy, "upgrade_fast");
    EXPECT_THAT(copy.Error("upgrade_added"), HasSubstr("was replaced since it was loaded"));
    EXPECT_THAT(copy.Error("upgrade_internal"), HasSubstr("restart the program"));
    EXPECT_THAT(copy.Error(absl::StrFormat("%#x", offset)), HasSubstr("was replaced"));
  }
}

// Without a build id another build may have the very same headers.
TEST(ReplacedFilesTest, ACopyOfAFileWithoutABuildIdIsAnother) {
  const Copy plain("plain_old");
  plain.ReplaceBy("plain_old");
  EXPECT_EQ(StateOfFile(plain.Object()), FileState::kReplaced);
  const Copy known("upgrade_old");
  known.ReplaceBy("upgrade_old");
  EXPECT_EQ(StateOfFile(known.Object()), FileState::kSame);
}

TEST(ReplacedFilesTest, ADeletedFileHasOnlyItsExportedFunctions) {
  for (const char* build : {"upgrade_old", "plain_old"}) {
    const Copy copy(build);
    copy.Delete();
    EXPECT_EQ(StateOfFile(copy.Object()), FileState::kGone);
    ExpectFound(copy, "upgrade_slow");
    const uintptr_t offset = copy.Address("upgrade_slow") - copy.Object().bias;
    EXPECT_TRUE(copy.Resolve(absl::StrFormat("%#x", offset)).ok());
    const std::string error = copy.Error("upgrade_internal");
    EXPECT_THAT(error, HasSubstr("no longer exists"));
    EXPECT_THAT(error, HasSubstr("keep the file"));
    EXPECT_THAT(error, Not(HasSubstr("\n")));
  }
}

TEST(ReplacedFilesTest, TheProgramKnowsItsOwnFile) {
  for (const LoadedDso& object : LoadedDsos()) {
    if (!object.is_program) continue;
    EXPECT_EQ(FindFunctions(object, "main").size(), 1u);
    return;
  }
  FAIL();
}

}  // namespace
}  // namespace jtrace::native_hooks
