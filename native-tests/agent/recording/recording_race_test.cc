// Recordings that follow one another while callbacks run, without a JVM: under ThreadSanitizer an
// unguarded access fails.
#include <gtest/gtest.h>
#include <jni.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/recording/agent_state.h"
#include "agent/recording/gate.h"
#include "agent/recording/recording.h"

namespace jtrace {
namespace {

constexpr int kCallbacks = 3;
constexpr int kRounds = 40;

// Parts of a JVM that has no functions: enough for what precedes a recording's begin.
class RecordingRaceTest : public testing::Test {
 protected:
  RecordingRaceTest() : agent_(NewAgent()) {}

  // Never freed, as in a JVM, but reachable for LeakSanitizer.
  static AgentState& NewAgent() {
    static JNIInvokeInterface_ functions = {};
    static JavaVM vm = {&functions};
    static std::vector<AgentState*>& all = *new std::vector<AgentState*>();
    all.push_back(new AgentState(&vm, nullptr));
    return *all.back();
  }

  Options SamplesInto(const std::string& name) {
    Options options;
    options.mode = Mode::kSamples;
    options.out = absl::StrCat(testing::TempDir(), "/", name, getpid(), ".bin");
    options.log = LogTarget::kNone;
    return options;
  }

  // Runs `callback` on some threads while `rounds` runs here.
  static void Beside(const std::function<void()>& callback, const std::function<void()>& rounds) {
    std::atomic<bool> runs{true};
    std::vector<std::thread> threads;
    for (int i = 0; i < kCallbacks; ++i) {
      threads.emplace_back([&] {
        while (runs.load()) callback();
      });
    }
    rounds();
    runs.store(false);
    for (std::thread& thread : threads) thread.join();
  }

  AgentState& agent_;
  Gate<Recording> gate_;
  int files_begun_ = 0;
};

// A method may be compiled, which asks for the sampler, while the first recording makes the
// sampler.
TEST_F(RecordingRaceTest, CallbacksMayFindTheSamplerWhileItIsMade) {
  std::atomic<int> asked{0};
  Beside(
      [&] {
        static_cast<void>(agent_.jvm.debug_info_keeper());
        asked.fetch_add(1);
      },
      [&] {
        while (asked.load() == 0) std::this_thread::yield();
        Recording recording(agent_, gate_, files_begun_, [] {});
        const absl::Status prepared = recording.Prepare(SamplesInto("race"));
        EXPECT_TRUE(prepared.ok()) << prepared;
        const int before = asked.load();
        while (asked.load() < before + kCallbacks) std::this_thread::yield();
      });
  EXPECT_NE(agent_.jvm.sampler.load(), nullptr);
}

// The options that a callback reads are those of its recording, whatever starts meanwhile.
TEST_F(RecordingRaceTest, OptionsAreNotOverwrittenWhileACallbackReadsThem) {
  std::atomic<int> read{0};
  Beside(
      [&] {
        const Gate<Recording>::Inside recording(gate_);
        if (!recording) return;
        const Options options = recording->options();
        EXPECT_TRUE(absl::StrContains(options.out, "round")) << options.out;
        EXPECT_EQ(options.include.size(), 1u);
        read.fetch_add(1);
      },
      [&] {
        for (int i = 0; i < kRounds; ++i) {
          auto recording = std::make_unique<Recording>(agent_, gate_, files_begun_, [] {});
          Options options = SamplesInto(absl::StrCat("round", i, "-"));
          options.include = {std::string(100, 'a') + "**"};
          const absl::Status prepared = recording->Prepare(options);
          ASSERT_TRUE(prepared.ok()) << prepared;
          const int before = read.load();
          gate_.Open(*recording);
          while (read.load() == before) std::this_thread::yield();
          gate_.Close();
          ASSERT_TRUE(gate_.WaitUntilEmpty(absl::InfiniteDuration()));
        }
      });
  EXPECT_GE(read.load(), kRounds);
}

}  // namespace
}  // namespace jtrace
