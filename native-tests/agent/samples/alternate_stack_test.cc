// Samples on alternate stacks: what handlers need of them, and what happens on small ones.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include "agent/samples/sampler.h"
#include "agent/signal_safe/signal_scope.h"
#include "native-tests/agent/samples/burn.h"
#include "native-tests/agent/samples/unknown_jvm.h"

namespace jtrace::samples {
namespace {

constexpr unsigned char kPaint = 0xa5;

// An alternate stack of the calling thread, above a page that nobody may touch.
class PaintedStack {
 public:
  explicit PaintedStack(size_t size) : size_(size) {
    memory_ = static_cast<unsigned char*>(
        mmap(nullptr, kGuard + kMost, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(memory_, kGuard, PROT_NONE);
    std::memset(low(), kPaint, size_);
    const stack_t stack = {low(), 0, size_};
    EXPECT_EQ(sigaltstack(&stack, nullptr), 0);
  }
  ~PaintedStack() {
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
    munmap(memory_, kGuard + kMost);
  }
  // The lowest address that was written to.
  uintptr_t Deepest() const {
    return reinterpret_cast<uintptr_t>(
        std::find_if(low(), low() + size_, [](unsigned char byte) { return byte != kPaint; }));
  }

 private:
  static constexpr size_t kGuard = 65'536, kMost = 262'144;
  unsigned char* low() const { return memory_ + kGuard; }

  const size_t size_;
  unsigned char* memory_;
};

// Where handlers on the alternate stack begin.
std::atomic<uintptr_t> g_begin{0};
void NoteBegin(int) { g_begin = reinterpret_cast<uintptr_t>(__builtin_frame_address(0)); }

void Handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_ONSTACK;
  ASSERT_EQ(sigaction(signal, &action, nullptr), 0);
}

class AlternateStackTest : public testing::TestWithParam<TimerKind> {
 protected:
  void SetUp() override {
    SamplerOptions options;
    options.timer = GetParam();
    auto sampler = Sampler::Create(options, UnknownJvm());
    if (!sampler.ok()) GTEST_SKIP() << sampler.status();
    sampler_ = *std::move(sampler);
    ASSERT_TRUE(sampler_->Start(nullptr).ok());
  }
  void TearDown() override {
    const absl::Status status = sampler_ != nullptr ? sampler_->Stop() : absl::OkStatus();
    EXPECT_TRUE(status.ok()) << status;
  }

  struct Seen {
    uint64_t samples = 0;
    uint64_t whole = 0;  // of them
  };
  // The calling thread's samples, until there are some or it has used much CPU time.
  Seen Sample(uint64_t enough) {
    EXPECT_TRUE(sampler_->AttachCurrentThread(nullptr, 1, 0).ok());
    Seen seen;
    for (int i = 0; i < 300 && seen.samples < enough; ++i) {
      Burn(absl::Milliseconds(5));
      sampler_->Drain([&](const SampleView& view) {
        ++seen.samples;
        seen.whole += view.header.end == ChainEnd::kFailed ? 0 : 1;
      });
    }
    sampler_->DetachCurrentThread();
    return seen;
  }
  uint64_t Lost(const std::string& name) const {
    for (const LossRow& loss : sampler_->Losses()) {
      if (loss.name == name) return loss.count;
    }
    return 0;
  }

  std::unique_ptr<Sampler> sampler_;
};

TEST_P(AlternateStackTest, ALargeOneHasRoomForAWalk) {
  std::thread([&] {
    const PaintedStack stack(131'072);
    Handle(SIGUSR1, NoteBegin);
    raise(SIGUSR1);
    const Seen seen = Sample(20);
    EXPECT_GE(seen.samples, 20u);
    EXPECT_GE(seen.whole, 1u);
    const uintptr_t deepest = stack.Deepest();
    EXPECT_LT(deepest, g_begin) << "the handler was not on the alternate stack";
    RecordProperty("bytes", static_cast<int>(g_begin - deepest));
    EXPECT_LE(g_begin - deepest, signal_safe::StackBytesToWalk());
  }).join();
  EXPECT_EQ(Lost("walk.no_stack_room"), 0u);
  EXPECT_EQ(Lost("sample.no_room"), 0u);
}

// Room for the interrupted pc alone, whatever the kernel's part of a handler takes here.
size_t StackForThePc() { return getauxval(AT_MINSIGSTKSZ) + 2 * signal_safe::kStackBytesToSample; }

TEST_P(AlternateStackTest, ASmallOneHasRoomForThePc) {
  std::thread([&] {
    const PaintedStack stack(StackForThePc());
    Handle(SIGUSR1, NoteBegin);
    raise(SIGUSR1);
    const Seen seen = Sample(20);
    EXPECT_GE(seen.samples, 20u);
    EXPECT_EQ(seen.whole, 0u);
    RecordProperty("bytes", static_cast<int>(g_begin - stack.Deepest()));
    EXPECT_LE(g_begin - stack.Deepest(), signal_safe::kStackBytesToSample);
  }).join();
  EXPECT_GE(Lost("walk.no_stack_room"), 20u);
}

// The kernel's part of a handler, by the size of the registers here, and our least.
size_t SmallestStack() { return getauxval(AT_MINSIGSTKSZ) + 1024; }

TEST_P(AlternateStackTest, TheSmallestOneHasNoneAndTheTicksAreCounted) {
  std::thread([&] {
    const PaintedStack stack(SmallestStack());
    EXPECT_TRUE(sampler_->AttachCurrentThread(nullptr, 1, 0).ok());
    for (int i = 0; i < 300 && Lost("sample.no_room") < 5; ++i) Burn(absl::Milliseconds(5));
    sampler_->DetachCurrentThread();
  }).join();
  EXPECT_GE(Lost("sample.no_room"), 5u);  // it went on after the first
  EXPECT_GE(Lost("sample.lost_ticks"), 5u);
}

// A handler of the program's on the same stack, interrupted by samples.
void BurnInHandler(int) { Burn(absl::Milliseconds(30)); }

TEST_P(AlternateStackTest, TheProgramsHandlerOnEightKilobytesSurvives) {
  if (2 * getauxval(AT_MINSIGSTKSZ) + 1024 > 8192) {
    GTEST_SKIP() << "the kernel has no room for two handlers on 8 KiB here";
  }
  std::thread([&] {
    const PaintedStack stack(8192);
    Handle(SIGUSR1, BurnInHandler);
    EXPECT_TRUE(sampler_->AttachCurrentThread(nullptr, 1, 0).ok());
    for (int i = 0; i < 10; ++i) raise(SIGUSR1);
    sampler_->DetachCurrentThread();
  }).join();
}

// As Go's threads do it: code runs on stacks of a few kilobytes, and handlers on another one.
ucontext_t g_thread, g_routine;
void BurnOnASmallStack() { Burn(absl::Milliseconds(100)); }

TEST_P(AlternateStackTest, CodeOnASmallStackIsSampledOnTheAlternateOne) {
  constexpr size_t kPage = 4096;
  auto* const small = static_cast<char*>(
      mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_EQ(mprotect(small, kPage, PROT_NONE), 0);
  std::thread([&] {
    const PaintedStack stack(65'536);
    EXPECT_TRUE(sampler_->AttachCurrentThread(nullptr, 1, 0).ok());
    ASSERT_EQ(getcontext(&g_routine), 0);
    g_routine.uc_stack = {small + kPage, 0, kPage};
    g_routine.uc_link = &g_thread;
    makecontext(&g_routine, BurnOnASmallStack, 0);
    ASSERT_EQ(swapcontext(&g_thread, &g_routine), 0);
    sampler_->DetachCurrentThread();
  }).join();
  uint64_t samples = 0;
  sampler_->Drain([&](const SampleView&) { ++samples; });
  EXPECT_GE(samples, 1u);
  munmap(small, 2 * kPage);
}

INSTANTIATE_TEST_SUITE_P(Timers, AlternateStackTest,
                         testing::Values(TimerKind::kCpuPosix, TimerKind::kCpuPerf),
                         [](const auto& timer) {
                           return timer.param == TimerKind::kCpuPosix ? "Posix" : "Perf";
                         });

// A handler of the program's, which gets its signals from ours, stays on the stack that it wants.
TEST(AlternateStackOfTheProgramTest, AHandlerWithoutOneStaysOnTheThreadsStack) {
  static std::atomic<uintptr_t> where{0};
  for (const int flags : {0, SA_ONSTACK}) {
    struct sigaction action {};
    action.sa_handler = [](int) {
      where = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    };
    action.sa_flags = flags;
    const int signal = flags == 0 ? SIGVTALRM : SIGPROF;
    ASSERT_EQ(sigaction(signal, &action, nullptr), 0);
    SamplerOptions options;
    options.timer = TimerKind::kCpuPosix;
    options.signal = signal;
    auto sampler = Sampler::Create(options, UnknownJvm());
    ASSERT_TRUE(sampler.ok());
    ASSERT_TRUE((*sampler)->Start(nullptr).ok());
    const PaintedStack stack(131'072);
    raise(signal);
    stack_t now = {};
    ASSERT_EQ(sigaltstack(nullptr, &now), 0);
    EXPECT_EQ(where - reinterpret_cast<uintptr_t>(now.ss_sp) < now.ss_size, flags != 0);
    EXPECT_TRUE((*sampler)->Stop().ok());
  }
}

}  // namespace
}  // namespace jtrace::samples
