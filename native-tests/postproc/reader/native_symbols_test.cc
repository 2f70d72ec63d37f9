#include "postproc/reader/native_symbols.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "native-tests/support/own_code.h"
#include "native-tests/support/run_post.h"
#include "native-tests/support/trace_builder.h"
#include "postproc/reader/input_file.h"

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

// This system's C library, mapped as its file is.
class LibraryOfC {
 public:
  static constexpr uint64_t kBase = 0x7f00'0000'0000;

  // `debug_files`: as of NativeSymbols.
  explicit LibraryOfC(const std::string& debug_files) : symbols_(true, debug_files) {
    Dl_info info{};
    if (dladdr(reinterpret_cast<void*>(&pthread_create), &info) == 0) return;
    auto file = postproc::InputFile::Open(info.dli_fname);
    if (!file.ok()) return;
    content_ = std::string(file->content());
    symbols_.AddModule(kBase, kBase + content_.size(), 0, info.dli_fname, "", 0);
    symbols_.Seal();
  }

  // The return address of the call in clone3 by which a thread begins; 0: there is none.
  uint64_t ThreadCall() const {
    const size_t clone3 = content_.find(std::string("\xb8\xb3\x01\x00\x00\x0f\x05", 7));
    const std::string exit("\x48\x89\xc7\xb8\x3c\x00\x00\x00\x0f\x05", 10);
    const size_t found = clone3 == std::string::npos ? clone3 : content_.find(exit, clone3);
    return found == std::string::npos || found - clone3 > 64 ? 0 : kBase + found;
  }
  // A place in a function that has no symbol.
  postproc::NativePlace* Nameless() {
    for (uint64_t at = 64; at < content_.size(); at += 64) {
      postproc::NativePlace* place = Find(kBase + at);
      if (place->function.start != 0 && place->function.symbol.empty()) return place;
    }
    return nullptr;
  }
  size_t size() const { return content_.size(); }
  std::string DebugFile(const std::string& folder) const {
    const auto functions = postproc::ElfFunctions::Parse(content_);
    if (!functions.ok()) return "";
    const std::string_view id = functions->image().build_id();
    const std::string hex = absl::BytesToHexString({id.data(), id.size()});
    return folder + "/.build-id/" + hex.substr(0, 2) + "/" +
           hex.substr(std::min<size_t>(2, hex.size())) + ".debug";
  }
  postproc::NativePlace* Find(uint64_t return_address) {
    return symbols_.At(return_address, true, 1, model_).place;
  }
  std::string NameOf(postproc::FrameId frame) const {
    return std::string(model_.RoutineName(model_.frame(frame).routine));
  }
  postproc::FrameId Start(const postproc::NativePlace& callee,
                          const postproc::NativePlace& caller) {
    return symbols_.ThreadStart(callee, caller, model_);
  }

 private:
  std::string content_;
  postproc::NativeSymbols symbols_;
  postproc::TraceModel model_;
};

TEST(NativeSymbolsTest, ThreadsBeginInNamedFunctionsOfAStrippedLibrary) {
  LibraryOfC library("/nonexistent");
  const uint64_t call = library.ThreadCall();
  postproc::NativePlace* const nameless = call == 0 ? nullptr : library.Nameless();
  if (nameless == nullptr) GTEST_SKIP() << "another C library, or one with symbols";
  postproc::NativePlace* const clone3 = library.Find(call);
  EXPECT_EQ(library.NameOf(clone3->frame), "clone3");
  // One instruction on, the call is another one, which it does not have.
  EXPECT_NE(library.NameOf(library.Find(call + 1)->frame), "clone3");
  EXPECT_THAT(library.NameOf(nameless->frame), HasSubstr("[libc.so.6+0x"));
  const postproc::FrameId start = library.Start(*nameless, *clone3);
  ASSERT_TRUE(start);
  EXPECT_EQ(library.NameOf(start), "start_thread");
  EXPECT_FALSE(library.Start(*nameless, *nameless));
}

// Where the symbols of the C library are installed.
TEST(NativeSymbolsTest, SymbolsOfStrippedFilesAreFoundByBuildId) {
  LibraryOfC stripped("/nonexistent");
  LibraryOfC library("/usr/lib/debug");
  if (stripped.Nameless() == nullptr ||
      !std::filesystem::exists(stripped.DebugFile("/usr/lib/debug"))) {
    GTEST_SKIP() << "it has symbols, or none are installed";
  }
  int named = 0;
  for (uint64_t at = 64; at < stripped.size(); at += 64) {
    const postproc::NativePlace* const place = stripped.Find(LibraryOfC::kBase + at);
    if (place->function.start == 0 || !place->function.symbol.empty()) continue;
    named += !library.Find(LibraryOfC::kBase + at)->function.symbol.empty();
  }
  EXPECT_GT(named, 100);
}

}  // namespace
}  // namespace jtrace
