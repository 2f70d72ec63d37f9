#include "agent/native_hooks/hook_targets.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "agent/native_hooks/displaced_instruction.h"
#include "agent/native_hooks/patch_site_table.h"
#include "native-tests/agent/native_hooks/hooked_functions.h"

namespace jtrace::native_hooks {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

absl::StatusOr<std::vector<Target>> Resolve(const std::string& object, const std::string& symbol) {
  return ResolveHook({object, symbol, HookKind::kCount}, LoadedDsos());
}

std::string Error(const std::string& object, const std::string& symbol) {
  return std::string(Resolve(object, symbol).status().message());
}

LoadedDso Object(const std::string& name) {
  for (const LoadedDso& object : LoadedDsos()) {
    if (object.name == name) return object;
  }
  return {};
}

// The offset of the second instruction of a function.
std::string Inside(const LoadedDso& object, uintptr_t address) {
  const size_t length = InstructionLength(ReadCode(address, kMaxInstruction));
  return absl::StrFormat("%#x", address + length - object.bias);
}

TEST(HookTargetsTest, AddressesMustBeEntirelyHexadecimal) {
  const LoadedDso object = Object("libhooked_functions.so");
  const uintptr_t offset = reinterpret_cast<uintptr_t>(&hooked_add) - object.bias;
  const std::string text = absl::StrFormat("%#x", offset);
  const auto found = Resolve(object.name, text);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ((*found)[0].function.name, "hooked_add");
  for (const std::string& wrong :
       {text + "zz", text + ".", std::string("0x"), std::string("0x1ffffffffffffffff")}) {
    EXPECT_THAT(Error(object.name, wrong), HasSubstr("is not an address")) << wrong;
  }
}

TEST(HookTargetsTest, FunctionsOfTheVdsoAreNotInLibc) {
  const LoadedDso libc = Object("libc.so.6");
  for (const char* symbol : {"time", "gettimeofday"}) {
    if (libc.HasCodeAt(IfuncTargetElsewhere(libc, symbol)) ||
        IfuncTargetElsewhere(libc, symbol) == 0) {
      continue;  // a kernel without a vdso
    }
    const std::string error = Error("libc.so.6", symbol);
    EXPECT_THAT(error, HasSubstr("from the kernel's vdso"));
    EXPECT_THAT(error, HasSubstr("hook its caller"));
    EXPECT_THAT(error, Not(HasSubstr("did you mean")));
  }
  EXPECT_EQ(IfuncTargetElsewhere(libc, "strlen"), 0u);
  EXPECT_EQ(IfuncTargetElsewhere(libc, "malloc"), 0u);
}

TEST(HookTargetsTest, LibcAllowsOnlyFunctionEntries) {
  const LoadedDso libc = Object("libc.so.6");
  const auto entry = Resolve("libc.so.6", "pthread_create");
  ASSERT_TRUE(entry.ok()) << entry.status();
  const uintptr_t address = (*entry)[0].function.address;
  EXPECT_TRUE(Resolve("libc.so.6", absl::StrFormat("%#x", address - libc.bias)).ok());
  const std::string error = Error("libc.so.6", Inside(libc, address));
  EXPECT_THAT(error, HasSubstr("signals may be blocked; hook the entry of 'pthread_create"));
}

// In a libc that was not stripped only the exported functions may have hooks.
TEST(HookTargetsTest, LibcAllowsOnlyExportedFunctions) {
  namespace fs = std::filesystem;
  EXPECT_TRUE(Resolve("libhooked_functions.so", "hooked::(anonymous namespace)::Hidden").ok());
  const fs::path file = fs::path(testing::TempDir()) / absl::StrCat("libc.so.", getpid());
  fs::copy_file(Object("libhooked_functions.so").path, file, fs::copy_options::overwrite_existing);
  void* const handle = dlopen(file.c_str(), RTLD_NOW);
  ASSERT_NE(handle, nullptr) << dlerror();
  const std::string name = file.filename();
  EXPECT_TRUE(Resolve(name, "hooked_add").ok());
  EXPECT_THAT(Error(name, "hooked::(anonymous namespace)::Hidden"), HasSubstr("has no function"));
  const auto add = reinterpret_cast<uintptr_t>(dlsym(handle, "hooked_add"));
  EXPECT_THAT(Error(name, Inside(Object(name), add)), HasSubstr("entry of 'hooked_add'"));
  dlclose(handle);
  fs::remove(file);
}

}  // namespace
}  // namespace jtrace::native_hooks
