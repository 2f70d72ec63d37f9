#include "postproc/reader/native_symbols.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "native-tests/support/run_post.h"
#include "native-tests/support/trace_builder.h"

namespace jtrace {
namespace {

using ::testing::HasSubstr;

// Functions of this very program are the known answers.
extern "C" __attribute__((noinline, visibility("default"))) int jtrace_test_known_function(int x) {
  return x * 3 + 1;
}

namespace inner {
__attribute__((noinline)) int Demangled(std::string text) {
  return static_cast<int>(text.size()) + 1;
}
}  // namespace inner

struct Executable {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t file_offset = 0;
};

Executable FindExecutableSegment() {
  Executable found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* result) {
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& segment = info->dlpi_phdr[i];
          if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
          *static_cast<Executable*>(result) = {info->dlpi_addr + segment.p_vaddr,
                                               info->dlpi_addr + segment.p_vaddr + segment.p_memsz,
                                               segment.p_offset};
          break;
        }
        return 1;  // the program itself comes first
      },
      &found);
  return found;
}

std::string SelfPath() {
  std::string path(4096, '\0');
  path.resize(static_cast<size_t>(readlink("/proc/self/exe", path.data(), path.size())));
  return path;
}

std::string StackOf(uint64_t address, bool as_caller, const std::string& build_id = "") {
  const Executable self = FindExecutableSegment();
  testing::TraceBuilder builder;
  const uint32_t thread = builder.Thread("main", 1);
  proto::Module& module = *builder.chunk().add_module();
  module.set_start(self.start);
  module.set_end(self.end);
  module.set_file_offset(self.file_offset);
  module.set_path(builder.String(SelfPath()));
  module.set_build_id(build_id);
  const uint32_t frame = builder.Frame(proto::Frame::NATIVE, address);
  const uint32_t leaf = builder.Frame(proto::Frame::STUB, builder.String("leaf"));
  if (as_caller) {
    builder.Sample(1, thread, 0, {leaf, frame});
  } else {
    builder.Sample(1, thread, 0, {frame});
  }
  return testing::ReportCsv(builder.Finish(), {"--report=samples"});
}

TEST(NativeSymbolsTest, NamesFunctionsOfAMappedFile) {
  const auto address = reinterpret_cast<uint64_t>(&jtrace_test_known_function);
  EXPECT_THAT(StackOf(address, false), HasSubstr("!jtrace_test_known_function"));
  // A return address belongs to what stands before it.
  EXPECT_THAT(StackOf(address, true), ::testing::Not(HasSubstr("!jtrace_test_known_function")));
  EXPECT_THAT(StackOf(address + 1, true), HasSubstr("!jtrace_test_known_function"));
}

TEST(NativeSymbolsTest, NamesAreDemangled) {
  EXPECT_EQ(inner::Demangled("x") + jtrace_test_known_function(1), 6);
  EXPECT_THAT(StackOf(reinterpret_cast<uint64_t>(&inner::Demangled), false),
              HasSubstr("inner::Demangled("));
}

TEST(NativeSymbolsTest, AnotherBuildGivesNoNames) {
  const auto address = reinterpret_cast<uint64_t>(&jtrace_test_known_function);
  EXPECT_THAT(StackOf(address, false, "not the build id"), HasSubstr("_test+0x"));
}

TEST(NativeSymbolsTest, AddressesOutsideEveryModule) {
  EXPECT_THAT(StackOf(0x10, false), HasSubstr("N:[0x10]"));
}

TEST(NativeSymbolsTest, EveryCutOfAFileIsReadSafely) {
  auto file = postproc::InputFile::Open(SelfPath());
  ASSERT_TRUE(file.ok());
  const std::string_view whole = file->content().substr(0, 1 << 16);
  for (size_t size = 0; size < whole.size(); size += 97) {
    const std::string cut(whole.substr(0, size));
    auto functions = postproc::ElfFunctions::Parse(cut);
    if (!functions.ok()) continue;
    const auto address = functions->image().AddressOf(size / 2);
    if (!address.has_value()) continue;
    functions->At(*address);
    functions->CallBefore(*address);
  }
}

}  // namespace
}  // namespace jtrace
