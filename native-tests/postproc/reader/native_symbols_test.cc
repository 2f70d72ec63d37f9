#include "postproc/reader/native_symbols.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "native-tests/support/own_code.h"
#include "native-tests/support/run_post.h"
#include "native-tests/support/trace_builder.h"

namespace jtrace {
namespace {

using ::testing::HasSubstr;

// Functions of this program are the known answers.
extern "C" __attribute__((noinline, visibility("default"))) int jtrace_test_known_function(int x) {
  return x * 3 + 1;
}

namespace inner {
__attribute__((noinline)) int Demangled(std::string text) {
  return static_cast<int>(text.size()) + 1;
}
}  // namespace inner

std::string StackOf(uint64_t address, bool as_caller, const std::string& build_id = "") {
  testing::TraceBuilder builder;
  const uint32_t thread = builder.Thread("main", 1);
  testing::AddOwnModule(builder, build_id);
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
  // A return address belongs to the code before it.
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

TEST(NativeSymbolsTest, NoFileIsOpenedWithNoFiles) {
  testing::TraceBuilder builder;
  builder.Thread("main", 1);
  testing::AddOwnModule(builder, "");
  const auto address = reinterpret_cast<uint64_t>(&jtrace_test_known_function);
  builder.Sample(1, 1, 0, {builder.Frame(proto::Frame::NATIVE, address)});
  const std::string trace = builder.Finish();
  EXPECT_THAT(testing::ReportCsv(trace, {"--report=samples"}), HasSubstr("!jtrace_test_known"));
  EXPECT_THAT(testing::ReportCsv(trace, {"--report=samples", "--no-files"}), HasSubstr("_test+0x"));
}

TEST(NativeSymbolsTest, AddressesOutsideEveryModuleHaveNames) {
  EXPECT_THAT(StackOf(0x10, false), HasSubstr("N:[0x10]"));
}

TEST(NativeSymbolsTest, EveryCutOfAFileIsReadSafely) {
  auto file = postproc::InputFile::Open(testing::SelfPath());
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
