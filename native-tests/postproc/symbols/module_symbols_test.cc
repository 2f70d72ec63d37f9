#include "postproc/reader/module_symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/auxv.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "postproc/model/demangle.h"

namespace jtrace::postproc {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// A folder with a copy of the stripped library, and that function's place in it.
class ModuleSymbolsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) /
              ("symbols" + std::to_string(getpid()) +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
    library_ = folder_ / kLibrary.filename();
    fs::copy_file(kLibrary, library_);
    void* const handle = dlopen(kLibrary.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(handle, nullptr) << dlerror();
    auto* const local =
        reinterpret_cast<void* (*)()>(dlsym(handle, "jtrace_test_local_function"))();
    Dl_info info{};
    ASSERT_NE(dladdr(local, &info), 0);
    address_ = reinterpret_cast<uint64_t>(local) - reinterpret_cast<uint64_t>(info.dli_fbase);
    offset_ = OffsetOf(address_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Addresses and offsets differ by segments.
  uint64_t OffsetOf(uint64_t address) const {
    const auto file = InputFile::OpenRegular(library_.string());
    const auto symbols = ElfSymbols::Parse(file->content());
    for (uint64_t offset = 0; offset < file->content().size(); ++offset) {
      if (symbols->AddressOf(offset) == address) return offset;
    }
    return 0;
  }

  std::string BuildId() const {
    const auto file = InputFile::OpenRegular(library_.string());
    return std::string(ElfSymbols::Parse(file->content())->build_id());
  }

  std::string NameAt(const std::string& build_id, const std::vector<std::string>& folders) const {
    return Demangle(ModuleSymbols(library_.string(), build_id, folders).FindByFileOffset(offset_));
  }
  std::string Name(const std::vector<std::string>& folders = {}) const {
    return NameAt(BuildId(), folders);
  }

  inline static const fs::path kLibrary = JTRACE_BINARY_DIR "/tests/symbols/libstripped.so";
  inline static const fs::path kDebugFile = JTRACE_BINARY_DIR "/tests/symbols/libstripped.so.debug";
  static constexpr char kLocal[] = "JtraceTestLocalFunction";

  fs::path folder_;
  fs::path library_;
  uint64_t address_ = 0;
  uint64_t offset_ = 0;
};

TEST_F(ModuleSymbolsTest, AStrippedLibraryAloneHasNoNameForALocalFunction) {
  EXPECT_THAT(Name(), Not(HasSubstr(kLocal)));
}

TEST_F(ModuleSymbolsTest, TheDebugFileBesideIt) {
  fs::copy_file(kDebugFile, folder_ / kDebugFile.filename());
  EXPECT_THAT(Name(), HasSubstr(kLocal));
}

TEST_F(ModuleSymbolsTest, TheDebugFileInDotDebug) {
  fs::create_directories(folder_ / ".debug");
  fs::copy_file(kDebugFile, folder_ / ".debug" / kDebugFile.filename());
  EXPECT_THAT(Name(), HasSubstr(kLocal));
}

TEST_F(ModuleSymbolsTest, AnotherDebugFileOfThatNameIsNotTaken) {
  fs::copy_file(kDebugFile, folder_ / kDebugFile.filename());
  std::ofstream(folder_ / kDebugFile.filename(), std::ios::app) << "changed";
  EXPECT_THAT(Name(), Not(HasSubstr(kLocal)));
}

TEST_F(ModuleSymbolsTest, TheDebugFileByBuildId) {
  const std::string id = BuildId();
  ASSERT_FALSE(id.empty());
  const std::string hex = absl::BytesToHexString(absl::string_view(id.data(), id.size()));
  const fs::path place = folder_ / "elsewhere" / ".build-id" / hex.substr(0, 2);
  fs::create_directories(place);
  fs::copy_file(kDebugFile, place / (hex.substr(2) + ".debug"));
  EXPECT_THAT(Name({(folder_ / "elsewhere").string()}), HasSubstr(kLocal));
}

TEST_F(ModuleSymbolsTest, AModuleThatIsNotWhereItWas) {
  const std::string id = BuildId();
  const fs::path elsewhere = folder_ / "elsewhere";
  fs::create_directories(elsewhere);
  fs::rename(library_, elsewhere / library_.filename());
  fs::copy_file(kDebugFile, elsewhere / kDebugFile.filename());
  EXPECT_EQ(NameAt(id, {}), "");
  EXPECT_THAT(NameAt(id, {elsewhere.string()}), HasSubstr(kLocal));
}

TEST_F(ModuleSymbolsTest, AnotherBuildOfTheModuleIsNotTaken) {
  fs::copy_file(kDebugFile, folder_ / kDebugFile.filename());
  EXPECT_EQ(NameAt("another build", {}), "");
}

// What the kernel maps has no file; this process has the same.
TEST_F(ModuleSymbolsTest, TheVdso) {
  const auto* const vdso = reinterpret_cast<const char*>(getauxval(AT_SYSINFO_EHDR));
  if (vdso == nullptr) GTEST_SKIP() << "the kernel maps none";
  const auto* const header = reinterpret_cast<const Elf64_Ehdr*>(vdso);
  const auto image = ElfSymbols::Parse(
      std::string_view(vdso, header->e_shoff + size_t{header->e_shnum} * sizeof(Elf64_Shdr)));
  ASSERT_TRUE(image.ok());
  void* const function =
      dlvsym(dlopen("linux-vdso.so.1", RTLD_NOW), "__vdso_clock_gettime", "LINUX_2.6");
  ASSERT_NE(function, nullptr);
  const uint64_t offset = reinterpret_cast<uint64_t>(function) - reinterpret_cast<uint64_t>(vdso);
  const std::string id(image->build_id());
  EXPECT_THAT(std::string(ModuleSymbols("[vdso]", id, {}).FindByFileOffset(offset)),
              HasSubstr("clock_gettime"));
  EXPECT_EQ(ModuleSymbols("[vdso]", "another kernel", {}).FindByFileOffset(offset), "");
}

TEST(DemangleTest, CppRustAndOthers) {
  EXPECT_EQ(Demangle("_ZN2os5sleepEl"), "os::sleep(long)");
  EXPECT_EQ(Demangle("_RNvC6_123foo3bar"), "123foo::bar");
  EXPECT_EQ(Demangle("_RNvNtCs1234_7mycrate3foo3bar"), "mycrate::foo::bar");
  EXPECT_EQ(Demangle("_RINvNtC3std3mem8align_ofdE"), "std::mem::align_of::<f64>");
  EXPECT_EQ(Demangle("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE"),
            "core::fmt::Formatter::pad");
  EXPECT_EQ(Demangle("_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$"
                     "$GT$3bar17h930b740aa94f1d3aE"),
            "<Test + 'static as foo::Bar<Test>>::bar");
  EXPECT_EQ(Demangle("malloc"), "malloc");
  EXPECT_EQ(Demangle("_Zbroken"), "_Zbroken");
  EXPECT_EQ(Demangle("_Rbroken"), "_Rbroken");
  EXPECT_EQ(Demangle(""), "");
}

}  // namespace
}  // namespace jtrace::postproc
