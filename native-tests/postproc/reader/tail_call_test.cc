// Functions that ended in a jump: real chains, taken by the C library's unwinder inside code whose
// calls and jumps are known, with and without symbols.
#include <absl/strings/str_format.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "native-tests/postproc/reader/tail_call_code.h"
#include "native-tests/support/run_post.h"
#include "native-tests/support/trace_builder.h"

namespace jtrace {
namespace {

using ::testing::ElementsAre;

constexpr std::string_view kNames[kTailCallEntries] = {"plain_outer",
                                                       "outer",
                                                       "import_outer",
                                                       "plain_import",
                                                       "indirect_outer",
                                                       "slot_outer",
                                                       "inner_outer",
                                                       "alias_outer",
                                                       "call_recursive",
                                                       "cold_outer",
                                                       "cold_tail_outer",
                                                       "part_outer",
                                                       "signalled",
                                                       "middle",
                                                       "leaf",
                                                       "jtrace_tail_exported",
                                                       "jtrace_leaf_exported",
                                                       "recursive",
                                                       "spread",
                                                       "spread.cold",
                                                       "to_spread",
                                                       "parted",
                                                       "parted.part.0"};

struct Mapped {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t file_offset = 0;
  std::string path;
};

std::vector<Mapped> MappedCode() {
  std::vector<Mapped> found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* result) {
        const std::string path = *info->dlpi_name == 0 ? "/proc/self/exe" : info->dlpi_name;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& it = info->dlpi_phdr[i];
          if (it.p_type != PT_LOAD || (it.p_flags & PF_X) == 0) continue;
          const uint64_t start = info->dlpi_addr + it.p_vaddr;
          static_cast<std::vector<Mapped>*>(result)->push_back(
              {start, start + it.p_memsz, it.p_offset, path});
        }
        return 0;
      },
      &found);
  return found;
}

// The last chain taken, innermost first: the first address counts as an interrupted one.
std::array<void*, 64> chain;
int chain_size = 0;

void TakeChain() { chain_size = backtrace(chain.data(), static_cast<int>(chain.size())); }

void TakeChainAndSkip(int, siginfo_t*, void* context) {
  TakeChain();
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP] += 2;
}

std::string TraceOfChain() {
  testing::TraceBuilder builder;
  const uint32_t thread = builder.Thread("main", 1);
  for (const Mapped& it : MappedCode()) {
    proto::Module& module = *builder.chunk().add_module();
    module.set_start(it.start);
    module.set_end(it.end);
    module.set_file_offset(it.file_offset);
    module.set_path(builder.String(it.path));
  }
  proto::Sample& sample = builder.Sample(1, thread, 0, {});
  for (int i = 0; i < chain_size; ++i) {
    sample.add_frame(builder.Frame(proto::Frame::NATIVE, reinterpret_cast<uint64_t>(chain[i])));
  }
  return builder.Finish();
}

class TailCallTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    library_ = IsStripped() ? "libjtrace_tail_call_stripped.so" : "libjtrace_tail_call_code.so";
    const std::string path = JTRACE_BINARY_DIR "/tests/" + library_;
    void* handle = dlopen(path.c_str(), RTLD_NOW);
    ASSERT_NE(handle, nullptr) << dlerror();
    code_ = static_cast<TailCallCode*>(dlsym(handle, "jtrace_tail_call_code"));
    ASSERT_NE(code_, nullptr);
    code_->probe = &TakeChain;
  }

  bool IsStripped() const { return GetParam(); }

  // The library's frames, root first, of the chain taken inside an entry.
  std::vector<std::string> FramesOf(TailCallEntry entry) {
    chain_size = 0;
    reinterpret_cast<void (*)()>(code_->entries[entry])();
    std::vector<std::string> frames;
    std::string rest = testing::Rows(TraceOfChain(), "samples", {"stack"}).at(0).at(0) + " > ";
    for (size_t end; (end = rest.find(" > ")) != std::string::npos; rest.erase(0, end + 3)) {
      const std::string frame = rest.substr(0, end);
      if (frame.find(library_) != std::string::npos) frames.push_back(frame);
    }
    return frames;
  }

  std::string Name(TailCallEntry entry) const {
    if (!IsStripped() || entry == kExported || entry == kLeafExported) {
      return std::string(kNames[entry]);
    }
    const auto address = reinterpret_cast<uint64_t>(code_->entries[entry]);
    for (const Mapped& it : MappedCode()) {
      if (address < it.start || address >= it.end) continue;
      return absl::StrFormat("[%s+0x%x]", library_, address - it.start + it.file_offset);
    }
    return "not mapped";
  }
  std::string Frame(TailCallEntry entry) const { return "N:" + library_ + "!" + Name(entry); }
  std::string TailCall(TailCallEntry entry) const {
    return "N:" + library_ + " [tail call]!" + Name(entry);
  }

  std::string library_;
  TailCallCode* code_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Files, TailCallTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Stripped" : "Symbols"; });

TEST_P(TailCallTest, AFunctionThatEndedInAJumpIsPutBack) {
  EXPECT_THAT(FramesOf(kOuter), ElementsAre(Frame(kOuter), TailCall(kMiddle), Frame(kLeaf)));
}

TEST_P(TailCallTest, ACallOfTheLinkageTableIsFollowedByItsName) {
  EXPECT_THAT(FramesOf(kImportOuter),
              ElementsAre(Frame(kImportOuter), TailCall(kExported), Frame(kLeaf)));
  EXPECT_THAT(FramesOf(kPlainImport), ElementsAre(Frame(kPlainImport), Frame(kLeafExported)));
}

TEST_P(TailCallTest, FunctionsCalledByTheirCallerAreLeftAlone) {
  EXPECT_THAT(FramesOf(kPlainOuter), ElementsAre(Frame(kPlainOuter), Frame(kLeaf)));
  EXPECT_THAT(FramesOf(kAliasOuter), ElementsAre(Frame(kAliasOuter), Frame(kLeaf)));
}

TEST_P(TailCallTest, UnknownCallsAreLeftAlone) {
  EXPECT_THAT(FramesOf(kIndirectOuter), ElementsAre(Frame(kIndirectOuter), Frame(kLeaf)));
  EXPECT_THAT(FramesOf(kSlotOuter), ElementsAre(Frame(kSlotOuter), Frame(kLeaf)));
  EXPECT_THAT(FramesOf(kInnerOuter), ElementsAre(Frame(kInnerOuter), Frame(kLeaf)));
}

TEST_P(TailCallTest, AFunctionMayCallItselfAndThenJump) {
  EXPECT_THAT(FramesOf(kRecursive),
              ElementsAre(Frame(kRecursiveFunction), TailCall(kRecursiveFunction), Frame(kLeaf)));
}

TEST_P(TailCallTest, ThePartOfAFunctionElsewhereIsNotAnotherFunction) {
  EXPECT_THAT(FramesOf(kColdOuter), ElementsAre(Frame(kColdOuter), Frame(kSpreadCold)));
  // Without symbols it is not known to which function the part belongs.
  if (IsStripped()) {
    EXPECT_THAT(FramesOf(kColdTailOuter), ElementsAre(Frame(kColdTailOuter), Frame(kSpreadCold)));
  } else {
    EXPECT_THAT(FramesOf(kColdTailOuter),
                ElementsAre(Frame(kColdTailOuter), TailCall(kToSpread), Frame(kSpreadCold)));
  }
  EXPECT_THAT(FramesOf(kPartOuter),
              ElementsAre(Frame(kPartOuter), TailCall(kParted), Frame(kPartedPart)));
}

TEST_P(TailCallTest, CodeThatASignalInterruptedHadCalledNothing) {
  void* none;
  backtrace(&none, 1);  // the first call loads a library: not in a handler
  struct sigaction action = {};
  struct sigaction before = {};
  action.sa_sigaction = &TakeChainAndSkip;
  action.sa_flags = SA_SIGINFO;
  ASSERT_EQ(sigaction(SIGILL, &action, &before), 0);
  EXPECT_THAT(FramesOf(kSignalled), ElementsAre(Frame(kSignalled)));
  sigaction(SIGILL, &before, nullptr);
}

// They aggregate by name: the same function, called or found by the target of its jump, is one
// node.
TEST_P(TailCallTest, TreesKnowFunctionsOnlyByName) {
  FramesOf(kOuter);
  const std::string trace = TraceOfChain();
  const std::string tree = testing::ReportCsv(trace, {"--report=tree"});
  EXPECT_THAT(tree, ::testing::HasSubstr("," + Name(kMiddle) + ","));
  EXPECT_THAT(tree, ::testing::Not(::testing::HasSubstr("tail call")));
  const testing::RunResult dump = testing::RunPost({"--report=dump", "t"}, {{"t", trace}});
  EXPECT_EQ(testing::ReportCsv(dump.out, {"--report=samples"}),
            testing::ReportCsv(trace, {"--report=samples"}));
  EXPECT_EQ(testing::ReportCsv(dump.out, {"--report=tree"}), tree);
}

}  // namespace
}  // namespace jtrace
