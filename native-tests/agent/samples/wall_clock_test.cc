// timer=wall without a JVM: how the ticks of waiting and of running threads are assigned.
#include "agent/samples/wall_clock.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <iterator>
#include <map>
#include <thread>

#include "absl/time/clock.h"
#include "agent/samples/sampler.h"
#include "gtest/gtest.h"
#include "native-tests/agent/samples/unknown_jvm.h"

namespace jtrace::samples {
namespace {

// The totals of one thread's samples.
struct Seen {
  uint32_t slot = 0;
  uint32_t number = 0;  // of the last sample
  uint64_t samples = 0;
  uint64_t ticks = 0;
  uint64_t running = 0;   // ticks of samples that found it running
  uint64_t first_ns = 0;  // of CLOCK_MONOTONIC, when the first sample was taken
  uint64_t last_ns = 0;
  Activity last = Activity::kUnknown;
};

TEST(TickerTest, StopDoesNotWaitForTheNextTick) {
  Ticker ticker;
  int ticks = 0;
  ticker.Start(absl::Hours(1), /*jitter=*/false, [&](uint32_t) { ++ticks; });
  ticker.Stop();  // an error shows as the test's time-out
  EXPECT_EQ(ticks, 0);
}

class WallClockTest : public testing::Test {
 protected:
  static constexpr absl::Duration kInterval = absl::Milliseconds(10);

  void SetUp() override {
    SamplerOptions options;
    options.timer = TimerKind::kWall;
    options.interval = kInterval;
    auto sampler = Sampler::Create(options, UnknownJvm());
    ASSERT_TRUE(sampler.ok()) << sampler.status();
    sampler_ = *std::move(sampler);
    ASSERT_TRUE(sampler_->Start(nullptr).ok());
  }

  // Until there are enough ticks for a result, and as many samples, regardless of how long that
  // takes here.
  Seen Watch(const std::function<void()>& body, const std::function<void()>& end,
             uint64_t samples) {
    std::atomic<bool> attached{false};
    std::thread thread([&] {
      ASSERT_TRUE(sampler_->AttachCurrentThread(nullptr, 5, 0).ok());
      attached = true;
      body();
      sampler_->DetachCurrentThread();
    });
    while (!attached) std::this_thread::yield();
    constexpr uint64_t kTicks = 60;
    constexpr int kMaxReads = 600;
    Seen seen;
    for (int i = 0; i < kMaxReads && (seen.ticks < kTicks || seen.samples < samples); ++i) {
      absl::SleepFor(absl::Milliseconds(100));
      Drain(seen);
    }
    end();
    thread.join();
    return seen;
  }

  void Drain(Seen& seen) {
    sampler_->Drain([&](const SampleView& view) {
      seen.slot = view.thread_slot;
      seen.number = view.header.number;
      if (seen.samples++ == 0) seen.first_ns = view.header.time_ns;
      seen.last_ns = view.header.time_ns;
      seen.ticks += view.header.weight + view.header.idle_ticks;
      seen.last = view.header.activity;
      if (seen.last == Activity::kRunning) seen.running += view.header.weight;
    });
    seen.ticks += sampler_->CollectIdle(seen.slot, seen.number).ticks;
  }

  std::unique_ptr<Sampler> sampler_;
};

TEST_F(WallClockTest, WaitingThreadsAreLeftAlone) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  char byte = 0;
  ssize_t got = -1;
  const Seen seen = Watch([&] { got = read(ends[0], &byte, 1); },
                          [&] { ASSERT_EQ(write(ends[1], "x", 1), 1); }, 1);
  EXPECT_EQ(got, 1);  // its signals did not end its call
  EXPECT_EQ(seen.last, Activity::kBlocked);
  EXPECT_GE(seen.ticks, 60u);
  EXPECT_LE(seen.samples, 5u);
  close(ends[0]);
  close(ends[1]);
}

uint64_t Now(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// A thread that runs, and the CPU time that it had used at each moment.
class RunningThread {
 public:
  void Run() {
    while (!over_) {
      used_[Now(CLOCK_MONOTONIC)] = Now(CLOCK_THREAD_CPUTIME_ID);
      const uint64_t next = Now(CLOCK_MONOTONIC) + 100'000;
      while (Now(CLOCK_MONOTONIC) < next) asm volatile("");
    }
  }
  void End() { over_ = true; }

  // CPU time used at `now_ns`. Call it after the end.
  uint64_t UsedAt(uint64_t now_ns) const {
    const auto after = used_.upper_bound(now_ns);
    return (after == used_.begin() ? after : std::prev(after))->second;
  }

 private:
  std::atomic<bool> over_{false};
  std::map<uint64_t, uint64_t> used_;
};

// A thread without a processor does not run, so the thread's own CPU time shows how many ticks it
// ran.
TEST_F(WallClockTest, RunningThreadsAreSampled) {
  RunningThread thread;
  const Seen seen = Watch([&] { thread.Run(); }, [&] { thread.End(); }, 10);
  EXPECT_GE(seen.ticks, 60u);
  ASSERT_GE(seen.samples, 10u);
  const uint64_t ran = thread.UsedAt(seen.last_ns) - thread.UsedAt(seen.first_ns);
  const auto ticks = ran / absl::ToInt64Nanoseconds(kInterval);
  EXPECT_GE(10 * (seen.running + 2), 9 * ticks);
}

// Each call of the body runs a little and then waits, long enough for a tick or two.
TEST_F(WallClockTest, ShortRunsAreSeen) {
  std::atomic<bool> over{false};
  const Seen seen = Watch(
      [&] {
        while (!over) absl::SleepFor(absl::Milliseconds(15));
      },
      [&] { over = true; }, 10);
  EXPECT_GE(seen.ticks, 60u);
  EXPECT_GE(seen.samples, 10u);
  EXPECT_EQ(seen.last, Activity::kBlocked);
}

TEST_F(WallClockTest, OtherThreadsSignalsGoOn) {
  static std::atomic<int> foreign{0};
  sampler_->Stop().IgnoreError();
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) { ++foreign; };
  sigaction(SIGPROF, &action, &before);
  ASSERT_TRUE(sampler_->Start(nullptr).ok());
  ASSERT_TRUE(sampler_->AttachCurrentThread(nullptr, 5, 0).ok());
  raise(SIGPROF);
  sigval value{};
  value.sival_int = 7;
  sigqueue(getpid(), SIGPROF, value);
  for (int i = 0; i < 1000 && foreign < 2; ++i) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_EQ(foreign, 2);
  sampler_->DetachCurrentThread();
}

// As the kernel reports a sender outside of this container.
void SignalFromOutside(int signal) {
  siginfo_t info{};
  info.si_signo = signal;
  info.si_code = SI_USER;
  ASSERT_EQ(syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), signal, &info), 0);
}

class OutsideSignalTest : public testing::TestWithParam<bool> {};

// It may also be a tick of ours, for whose data the kernel had no room: it never ends the program.
TEST_P(OutsideSignalTest, GoesToAHandlerAndIsHarmlessWithoutOne) {
  static std::atomic<int> foreign{0};
  struct sigaction action {};
  action.sa_handler = [](int) { ++foreign; };
  if (GetParam()) sigaction(SIGPROF, &action, nullptr);
  SamplerOptions options;
  options.timer = TimerKind::kWall;
  options.interval = absl::Hours(1);  // no tick comes meanwhile
  auto sampler = Sampler::Create(options, UnknownJvm());
  ASSERT_TRUE(sampler.ok()) << sampler.status();
  ASSERT_TRUE((*sampler)->Start(nullptr).ok());
  SignalFromOutside(SIGPROF);
  ASSERT_TRUE((*sampler)->AttachCurrentThread(nullptr, 5, 0).ok());
  SignalFromOutside(SIGPROF);
  EXPECT_EQ(foreign, GetParam() ? 2 : 0);
  EXPECT_TRUE((*sampler)->Stop().ok());
}

INSTANTIATE_TEST_SUITE_P(HasHandler, OutsideSignalTest, testing::Bool(),
                         [](const auto& has) { return has.param ? "Yes" : "No"; });

// A thread that waits, and runs briefly on request. Its samples are counted, not taken.
class MovedThread {
 public:
  MovedThread() : thread_([this] { Run(); }) {
    tid_.wait(0);
    slot_.os_tid = tid_.load();
    slot_.activity = static_cast<uint8_t>(Activity::kBlocked);
  }
  ~MovedThread() {
    over_ = true;
    Move();
    thread_.join();
  }

  // Uses a little CPU time and waits again.
  void Move() {
    const uint32_t moves = moves_.load();
    wanted_ = moves + 1;
    wanted_.notify_one();
    moves_.wait(moves);
    timespec before{}, now{};
    // Until it waits: the return to waiting also takes CPU time.
    do {
      before = now;
      absl::SleepFor(absl::Milliseconds(1));
      now = Used();
    } while (now.tv_sec != before.tv_sec || now.tv_nsec != before.tv_nsec);
  }

  // One tick. Whether the thread got a signal, which its handler answered.
  bool Check(WallClock& clock) {
    clock.AddTicks(slot_, 0, 1, ++ticks_);
    return slot_.pending_ticks.exchange(0) != 0;
  }

 private:
  void Run() {
    pthread_getcpuclockid(pthread_self(), &clock_);
    tid_ = gettid();
    tid_.notify_all();
    for (uint32_t moves = 0; !over_;) {
      wanted_.wait(moves);
      moves = wanted_;
      moves_ = moves;
      moves_.notify_one();
    }
  }
  timespec Used() const {
    timespec used{};
    clock_gettime(clock_, &used);
    return used;
  }

  ThreadSlot slot_;
  clockid_t clock_ = 0;
  std::atomic<pid_t> tid_{0};
  std::atomic<bool> over_{false};
  std::atomic<uint32_t> wanted_{0};
  std::atomic<uint32_t> moves_{0};
  uint64_t ticks_ = 0;
  std::thread thread_;  // the last member: it uses the others
};

// The second small move in a row is treated as the signal's own CPU time. If it was not, the thread
// is no longer where its sample says, perhaps permanently.
TEST(WallClockTicksTest, AThreadThatMovedWithTheSignalIsSampledAgain) {
  signal(SIGPROF, SIG_IGN);
  WallClock clock(absl::Seconds(1), SIGPROF);
  MovedThread thread;
  EXPECT_TRUE(thread.Check(clock));
  thread.Move();
  EXPECT_TRUE(thread.Check(clock));
  thread.Move();
  EXPECT_FALSE(thread.Check(clock));
  int signals = 0;
  for (int tick = 0; tick < 40; ++tick) {
    if (!thread.Check(clock)) continue;
    ++signals;
    thread.Move();
  }
  EXPECT_EQ(signals, 1);
  // It may have moved on with that signal as well.
  for (int tick = 0; tick < 10'000; ++tick) {
    if (!thread.Check(clock)) continue;
    ++signals;
    thread.Move();
  }
  EXPECT_EQ(signals, 2);
}

// A waiting thread is eventually checked every 16th tick; the ticks since the last check are not
// lost when it ends.
TEST(WallClockTicksTest, FinishCollectsUncheckedTicks) {
  signal(SIGPROF, SIG_IGN);
  std::atomic<pid_t> tid{0};
  std::atomic<bool> over{false};
  std::thread waiting([&] {
    tid = gettid();
    tid.notify_all();
    over.wait(false);
  });
  tid.wait(0);
  auto slot = std::make_unique<ThreadSlot>();
  slot->os_tid = tid.load();
  WallClock clock(absl::Milliseconds(10), SIGPROF);
  uint32_t ticks = 0, due = 0;
  while (ticks < 200 || due + IdleWord::Of(slot->idle).ticks == ticks) {
    clock.AddTicks(*slot, 0, 1, ++ticks);
    due += slot->pending_ticks.exchange(0);  // like the handler
  }
  clock.Finish(*slot, 0, ticks);
  due += slot->pending_ticks;
  EXPECT_EQ(due + IdleWord::Of(slot->idle).ticks, ticks);
  over = true;
  over.notify_all();
  waiting.join();
}

}  // namespace
}  // namespace jtrace::samples
