// Threads without Java code, attached as they appear. No JVM: no thread is a Java thread.
#include "agent/samples/non_java_thread_source.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "absl/time/clock.h"
#include "agent/base/clock.h"
#include "agent/samples/sampler.h"
#include "gtest/gtest.h"
#include "native-tests/agent/samples/unknown_jvm.h"

namespace jtrace::samples {
namespace {

class InternalThreadSourceTest : public testing::Test {
 protected:
  void SetUp() override {
    SamplerOptions options;
    options.timer = TimerKind::kCpuPosix;
    auto sampler = Sampler::Create(options, UnknownJvm());
    ASSERT_TRUE(sampler.ok()) << sampler.status();
    sampler_ = *std::move(sampler);
    ASSERT_TRUE(sampler_->Start(nullptr).ok());
    source_ = std::make_unique<NonJavaThreadSource>(
        threads_, *sampler_, names_, [](pid_t) { return false; }, losses_);
    source_->AttachAll();
  }

  // Polls, as the writer does, until the thread has a timer; never seals a chunk.
  bool PollUntilAttached(pid_t tid) {
    for (int i = 0; i < 1000 && !sampler_->IsAttached(tid); ++i) {
      source_->Poll(chunk_);
      absl::SleepFor(absl::Milliseconds(10));
    }
    return sampler_->IsAttached(tid);
  }

  uint64_t LateMillis() {
    source_->AddChanges(0, chunk_);
    for (const LossRow& row : losses_.Snapshot()) {
      if (row.name == "sample.late_threads") return row.count;
    }
    return 0;
  }

  int DefinitionsOf(pid_t tid) {
    const proto::Chunk chunk = encoder_.Take();
    int count = 0;
    for (const proto::Thread& thread : chunk.thread()) count += thread.os_tid() == tid;
    return count;
  }

  RecordingClock clock_;
  trace::RecordEncoder encoder_{{}};
  jvm::ThreadTable table_;
  jvm::ThreadRegistry threads_{table_, nullptr, clock_, encoder_};
  ThreadNameFilter names_;
  Losses losses_;
  proto::Chunk chunk_;
  std::unique_ptr<Sampler> sampler_;
  std::unique_ptr<NonJavaThreadSource> source_;
};

// A thread that works in steps on the test's request.
class Steps {
 public:
  explicit Steps(std::function<void(int)> step)
      : thread_([this, step = std::move(step)] {
          tid_ = gettid();
          tid_.notify_all();
          for (int done = 0; done < 3; ++done) {
            asked_.wait(done);
            step(done + 1);
            done_ = done + 1;
            done_.notify_all();
          }
        }) {
    tid_.wait(0);
  }
  ~Steps() {
    asked_ = 3;
    asked_.notify_all();
    thread_.join();
  }
  void Take(int step) {
    asked_ = step;
    asked_.notify_all();
    done_.wait(step - 1);
  }
  pid_t tid() const { return tid_; }

 private:
  std::atomic<pid_t> tid_{0};
  std::atomic<int> asked_{0};
  std::atomic<int> done_{0};
  std::thread thread_;
};

TEST_F(InternalThreadSourceTest, ThreadsThatLeaveTheJvmAreStillSampled) {
  // A call back into Java between two looks: the thread attaches to the JVM and leaves it again.
  Steps native([&](int step) {
    if (step != 1) return;
    ASSERT_TRUE(sampler_->AttachCurrentThread(nullptr, 77, 5).ok());
    sampler_->DetachCurrentThread();
  });
  ASSERT_TRUE(PollUntilAttached(native.tid()));
  native.Take(1);
  ASSERT_FALSE(sampler_->IsAttached(native.tid()));
  EXPECT_TRUE(PollUntilAttached(native.tid()));
  EXPECT_EQ(DefinitionsOf(native.tid()), 1);  // it is the same thread
}

// Regardless of how long a busy machine takes to end them.
TEST_F(InternalThreadSourceTest, ThreadsThatEndAreLeftAlone) {
  Steps java([&](int step) {
    if (step == 1) threads_.End();
    const uint64_t until = ThreadCpuNanos(gettid()) + 20'000'000;
    while (step == 2 && ThreadCpuNanos(gettid()) < until) {
    }
  });
  java.Take(1);
  for (int i = 0; i < 40; ++i) {
    source_->Poll(chunk_);
    absl::SleepFor(absl::Milliseconds(10));
  }
  EXPECT_FALSE(sampler_->IsAttached(java.tid()));
  java.Take(2);  // it continues as native code
  EXPECT_TRUE(PollUntilAttached(java.tid()));
}

TEST_F(InternalThreadSourceTest, ReportsCpuTimeBeforeThreadsWereFound) {
  Steps busy([](int step) {
    if (step != 1) return;
    while (ThreadCpuNanos(gettid()) < 120'000'000) {
    }
  });
  busy.Take(1);
  EXPECT_EQ(LateMillis(), 0u);
  ASSERT_TRUE(PollUntilAttached(busy.tid()));
  EXPECT_GE(LateMillis(), 120u);
}

// Without it the next thread with its kernel id would be taken for it, and have no timer.
TEST_F(InternalThreadSourceTest, AThreadThatEndsLosesItsTimerAtTheNextCheck) {
  auto native = std::make_unique<Steps>([](int) {});
  const pid_t tid = native->tid();
  ASSERT_TRUE(PollUntilAttached(tid));
  native.reset();
  for (int i = 0; i < 1000 && sampler_->IsAttached(tid); ++i) {
    source_->Poll(chunk_);
    absl::SleepFor(absl::Milliseconds(10));
  }
  EXPECT_FALSE(sampler_->IsAttached(tid));
}

TEST_F(InternalThreadSourceTest, ExcludedThreadsAreNotAttached) {
  names_ = ThreadNameFilter({"nosuch"});
  Steps idle([](int) {});
  for (int i = 0; i < 40; ++i) {
    source_->Poll(chunk_);
    absl::SleepFor(absl::Milliseconds(10));
  }
  EXPECT_FALSE(sampler_->IsAttached(idle.tid()));
  EXPECT_EQ(DefinitionsOf(idle.tid()), 0);
}

}  // namespace
}  // namespace jtrace::samples
