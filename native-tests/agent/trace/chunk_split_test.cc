#include "agent/trace/chunk_split.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "native-tests/support/run_post.h"
#include "native-tests/support/trace_builder.h"
#include "proto/trace_format.h"

namespace jtrace::trace {
namespace {

using testing::FileHeader;
using testing::MakeFrame;
using testing::RunPost;

constexpr size_t kAnySize = 1 << 30;

std::vector<proto::Chunk> Split(proto::Chunk whole, size_t limit, size_t most = kAnySize) {
  std::vector<proto::Chunk> parts;
  ChunkSplitter(limit, most).Split(std::move(whole), [&](proto::Chunk part) {
    parts.push_back(std::move(part));
  });
  return parts;
}

proto::Chunk ChunkWithEvents(int count) {
  proto::Chunk chunk;
  chunk.set_first_string(1);
  chunk.add_string("a name");
  for (int i = 0; i < count; ++i) {
    proto::Event* event = chunk.add_event();
    event->set_value(i);
    for (int pc = 0; pc < 100; ++pc) event->mutable_code_event()->add_pc(1000);
  }
  chunk.mutable_session_end()->set_calls(7);
  return chunk;
}

TEST(ChunkSplitTest, ASmallChunkStaysWhole) {
  const proto::Chunk whole = ChunkWithEvents(3);
  const auto parts = Split(whole, 1 << 20);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].SerializeAsString(), whole.SerializeAsString());
}

TEST(ChunkSplitTest, EventsFollowTheirDefinitionsInOrder) {
  constexpr size_t kLimit = 2000;
  const auto parts = Split(ChunkWithEvents(50), kLimit);
  ASSERT_GT(parts.size(), 3u);
  EXPECT_EQ(parts[0].string_size(), 1);
  int next = 0;
  for (const proto::Chunk& part : parts) {
    EXPECT_LE(part.ByteSizeLong(), kLimit);
    for (const proto::Event& event : part.event()) EXPECT_EQ(event.value(), next++);
  }
  EXPECT_EQ(next, 50);
}

TEST(ChunkSplitTest, TheSessionsEndIsInTheLastPart) {
  for (const int events : {0, 50}) {
    const auto parts = Split(ChunkWithEvents(events), 10);
    for (size_t i = 0; i < parts.size(); ++i) {
      EXPECT_EQ(parts[i].has_session_end(), i + 1 == parts.size());
    }
    EXPECT_EQ(parts.back().session_end().calls(), 7u);
  }
}

TEST(ChunkSplitTest, ARecordAboveTheLimitIsAloneInItsPart) {
  const auto parts = Split(ChunkWithEvents(3), 10);
  ASSERT_EQ(parts.size(), 5u);
  for (size_t i = 1; i < 4; ++i) EXPECT_EQ(parts[i].event_size(), 1);
}

// Otherwise it would end the recording: no frame can hold it.
TEST(ChunkSplitTest, ARecordThatNoFrameCanHoldIsLeftOutAndCounted) {
  proto::Chunk whole = ChunkWithEvents(3);
  whole.mutable_event(1)->mutable_code_event()->mutable_pc()->Resize(5000, 1000);
  const auto parts = Split(whole, 1000, 9000);
  std::vector<int64_t> values;
  for (const proto::Chunk& part : parts) {
    EXPECT_LE(part.ByteSizeLong(), 9000u);
    for (const proto::Event& event : part.event()) values.push_back(event.value());
  }
  EXPECT_THAT(values, ::testing::ElementsAre(0, 2));
  ASSERT_EQ(parts.back().loss_size(), 1);
  EXPECT_EQ(parts.back().loss(0).name(), "trace.too_large");
  EXPECT_EQ(parts.back().loss(0).count(), 1u);
}

// ---- Any chunk ----------------------------------------------------------------------------------

// A chunk with records of all kinds, whose numbers refer to each other as a writer's do.
class RandomChunk {
 public:
  explicit RandomChunk(uint32_t seed) : random_(seed), size_(1 + static_cast<int>(Below(60))) {
    chunk_.mutable_session_start()->set_pid(42);
    Define();
    for (uint32_t thread = 1; thread <= kThreads; ++thread) {
      AddTree(thread);
      AddTree(thread);
    }
    AddEvents();
    AddSamples();
    for (int i = 0; i < 6; ++i) AddLog(1 + Below(kThreads), i % 2 == 0);
    AddTotals();
  }

  proto::Chunk Take() { return std::move(chunk_); }

 private:
  static constexpr uint32_t kThreads = 4;
  static constexpr uint32_t kRoutines = 9;
  static constexpr uint64_t kTimes = 5000;

  uint32_t Below(uint32_t bound) { return static_cast<uint32_t>(random_() % bound); }

  uint32_t String(const std::string& text) {
    chunk_.set_first_string(1);
    chunk_.add_string(text);
    return static_cast<uint32_t>(chunk_.string_size());
  }

  void Define() {
    for (uint32_t id = 1; id <= kRoutines; ++id) {
      proto::ClassDef& type = *chunk_.add_class_def();
      type.set_id(id);
      type.set_name(String(absl::StrCat("a.C", id)));
      const uint32_t name = String(absl::StrCat("m", id));
      const uint32_t descriptor = String("()V");
      const auto define = [&](auto& member) {
        member.set_id(id);
        member.set_class_id(id);
        member.set_name(name);
        member.set_descriptor(descriptor);
      };
      define(*chunk_.add_routine());
      define(*chunk_.add_method());
    }
    for (uint32_t id = 1; id <= kThreads; ++id) {
      proto::Thread& thread = *chunk_.add_thread();
      thread.set_id(id);
      thread.set_name(String(absl::StrCat("t", id)));
      thread.set_java_tid(id);
      nodes_.push_back({});
    }
    metric_ = String("alloc.bytes");
    proto::Hook& hook = *chunk_.add_hook();
    hook.set_id(1);
    hook.set_name(String("libc.so.6!malloc"));
  }

  void AddTree(uint32_t thread) {
    proto::TreeDelta& delta = *chunk_.add_tree();
    delta.set_thread(thread);
    std::vector<uint32_t>& nodes = nodes_[thread - 1];
    uint32_t last = 0;
    for (int i = 0; i < size_; ++i) {
      const uint32_t node = ++last_node_ + 100 * Below(2);
      last_node_ = node;
      delta.add_new_node(static_cast<int32_t>(node - std::exchange(last, node)));
      delta.add_new_parent(nodes.empty() ? 0 : nodes[Below(nodes.size())]);
      delta.add_new_routine(Below(kRoutines + 1));
      nodes.push_back(node);
    }
    const bool has_times = Below(2) == 0;
    last = 0;
    for (const uint32_t node : nodes) {
      if (Below(3) == 0) continue;
      delta.add_node(static_cast<int32_t>(node - std::exchange(last, node)));
      delta.add_calls(Below(1 << (1 + Below(30))));
      delta.add_jitted(0);
      if (!has_times) continue;
      delta.add_base_ns(Below(100'000));
      delta.add_off_ns(Below(100));
      delta.add_min_base_ns(1);
      delta.add_max_base_ns(50'000);
    }
    AddMetric(nodes, delta);
    if (nodes.size() > 2 && Below(2) == 0) {  // a leaf
      delta.add_pruned_node(static_cast<int32_t>(nodes.back()));
      nodes.pop_back();
    }
  }

  void AddMetric(const std::vector<uint32_t>& nodes, proto::TreeDelta& delta) {
    proto::NodeMetric& metric = *delta.add_metric();
    metric.set_name(metric_);
    metric.add_node(0);
    metric.add_value(5);
    uint32_t last = 0;
    for (const uint32_t node : nodes) {
      metric.add_node(static_cast<int32_t>(node - std::exchange(last, node)));
      metric.add_value(1 + Below(100'000));
    }
  }

  void AddEvents() {
    std::vector<uint64_t> times;
    for (int i = 0; i < size_; ++i) times.push_back(1 + Below(kTimes));
    std::sort(times.begin(), times.end());
    for (const uint64_t time : times) {
      proto::Event& event = *chunk_.add_event();
      event.set_time_ns(time);
      event.set_thread(Below(kThreads + 1));
      event.set_major(event.thread() == 0 ? format::kGc : format::kPark);
      event.set_minor(1 | (Below(2) == 0 ? format::kEnd : 0));
      event.set_value(event.thread() == 0 ? static_cast<int64_t>(time) : 0);
    }
  }

  void AddSamples() {
    for (uint32_t id = 1; id <= kRoutines; ++id) {
      proto::Frame& frame = *chunk_.add_frame();
      frame.set_kind(proto::Frame::COMPILED);
      frame.set_value(id);
    }
    for (int i = 0; i < size_; ++i) {
      proto::Sample& sample = *chunk_.add_sample();
      sample.set_time_ns(1 + Below(kTimes));
      sample.set_thread(1 + Below(kThreads));
      const std::vector<uint32_t>& nodes = nodes_[sample.thread() - 1];
      if (Below(2) == 0) sample.set_node(nodes[Below(nodes.size())]);
      for (uint32_t frames = 1 + Below(12); frames > 0; --frames)
        sample.add_frame(Below(kRoutines));
    }
  }

  // Entries and exits that belong together, with marks among them.
  void AddLog(uint32_t thread, bool has_times) {
    proto::EventLog& log = *chunk_.add_log();
    log.set_thread(thread);
    log.set_time_ns(1 + Below(kTimes));
    std::vector<uint32_t> open;
    const auto add = [&](uint32_t op, bool is_value = false) {
      log.add_op(op);
      if (has_times) log.add_delta_ns(is_value ? 0 : Below(40));
    };
    for (int i = 0; i < 3 * size_; ++i) {
      const uint32_t what = Below(10);
      if (what == 0) {
        add(format::kLogPosition);
        add(Below(4) == 0 ? 0 : nodes_[thread - 1][Below(nodes_[thread - 1].size())], true);
        open.clear();
      } else if (what == 1) {
        add(format::kLogDropped);
        add(Below(500), true);
      } else if (what < 6 || open.empty()) {
        open.push_back(1 + Below(kRoutines));
        add(open.back() << format::kLogRoutineShift | Below(2));
      } else {
        add(open.back() << format::kLogRoutineShift | format::kLogExit);
        open.pop_back();
      }
    }
  }

  void AddTotals() {
    for (int i = 0; i < size_; ++i) {
      proto::HookCalls& calls = *chunk_.add_hook_calls();
      calls.set_hook(1);
      calls.set_thread(1 + Below(kThreads));
      calls.set_node(nodes_[calls.thread() - 1].front());
      calls.set_caller(Below(1 << 20));
      calls.set_calls(1 + Below(9));
    }
    proto::Loss& loss = *chunk_.add_loss();
    loss.set_name("some.loss");
    loss.set_count(3);
    proto::CodeTotal& total = *chunk_.add_code_total();
    total.set_major(format::kMonitor);
    total.set_minor(1);
    total.set_count(9);
    chunk_.mutable_planner()->set_classes_seen(2);
    chunk_.set_tree_bytes(12345);
    chunk_.mutable_session_end()->set_reason(proto::SessionEnd::VM_DEATH);
  }

  std::mt19937 random_;
  const int size_;
  proto::Chunk chunk_;
  std::vector<std::vector<uint32_t>> nodes_;  // by thread
  uint32_t last_node_ = 0;
  uint32_t metric_ = 0;
};

std::string Trace(std::vector<proto::Chunk> chunks) {
  std::string trace = FileHeader();
  uint64_t sequence = 0;
  for (proto::Chunk& chunk : chunks) {
    chunk.set_sequence(++sequence);
    trace += MakeFrame(chunk.SerializeAsString());
  }
  return trace;
}

using Lines = std::map<std::string, std::vector<std::string>>;  // by thread

// The lines of each thread in a reader's dump, in order. Lines of different threads have no order.
Lines LinesByThread(const std::string& trace) {
  const auto dump = RunPost({"--report=dump", "trace"}, {{"trace", trace}});
  EXPECT_EQ(dump.exit_code, 0) << dump.err;
  EXPECT_EQ(dump.err, "");
  Lines lines;
  for (const absl::string_view line : absl::StrSplit(dump.out, '\n')) {
    if (absl::StrContains(line, "\tsample_bytes\t")) continue;  // their size in the file
    const std::vector<absl::string_view> columns = absl::StrSplit(line, '\t');
    lines[columns.size() < 2 ? "" : std::string(columns[1])].emplace_back(line);
  }
  return lines;
}

// The first difference between the two; empty: none.
std::string Difference(const Lines& expected, const Lines& actual) {
  for (const auto& [thread, lines] : expected) {
    const auto found = actual.find(thread);
    if (found == actual.end()) return absl::StrCat("no lines of ", thread);
    const size_t both = std::min(lines.size(), found->second.size());
    for (size_t i = 0; i < both; ++i) {
      if (lines[i] != found->second[i]) return absl::StrCat(lines[i], "\n", found->second[i]);
    }
    if (lines.size() != found->second.size()) return absl::StrCat("lines of ", thread);
  }
  return expected.size() == actual.size() ? "" : "more threads";
}

TEST(ChunkSplitTest, PartsSayTogetherWhatTheWholeSays) {
  for (uint32_t seed = 1; seed <= 30; ++seed) {
    const proto::Chunk whole = RandomChunk(seed).Take();
    const auto lines = LinesByThread(Trace({whole}));
    ASSERT_GT(lines.size(), 4u);
    for (const size_t limit : {60u, 1000u, 5000u}) {
      EXPECT_EQ(Difference(lines, LinesByThread(Trace(Split(whole, limit)))), "")
          << "seed " << seed << ", limit " << limit;
    }
  }
}

TEST(ChunkSplitTest, PartsKeepToTheLimit) {
  for (uint32_t seed = 1; seed <= 30; ++seed) {
    // A sample with its frames is the largest record that cannot be split.
    for (const size_t limit : {600u, 2000u}) {
      const auto parts = Split(RandomChunk(seed).Take(), limit);
      for (const proto::Chunk& part : parts) EXPECT_LE(part.ByteSizeLong(), limit);
    }
  }
}

// A trace that is cut off between the parts names nothing undefined.
TEST(ChunkSplitTest, APartNamesOnlyWhatItOrAnEarlierOneDefines) {
  for (uint32_t seed = 1; seed <= 10; ++seed) {
    const auto parts = Split(RandomChunk(seed).Take(), 1000);
    for (size_t count = 1; count < parts.size(); ++count) {
      LinesByThread(Trace({parts.begin(), parts.begin() + static_cast<ptrdiff_t>(count)}));
    }
  }
}

}  // namespace
}  // namespace jtrace::trace
