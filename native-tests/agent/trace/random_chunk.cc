#include "native-tests/agent/trace/random_chunk.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/trace_format.h"

namespace jtrace::testing {
namespace {

class ChunkMaker {
 public:
  explicit ChunkMaker(uint32_t seed) : random_(seed), size_(1 + static_cast<int>(Below(60))) {
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
    for (uint32_t id = 1; id <= kThreads; ++id) {
      proto::LabelSet& labels = *chunk_.add_label_set();
      labels.set_id(id);
      labels.add_key(String("tenant"));
      labels.add_value(String(absl::StrCat("v", id)));
    }
    proto::Hook& hook = *chunk_.add_hook();
    hook.set_id(1);
    hook.set_name(String("libc.so.6!malloc"));
  }

  void AddTree(uint32_t thread) {
    proto::TreeDelta& delta = *chunk_.add_tree();
    delta.set_thread(thread);
    std::vector<uint32_t>& nodes = nodes_[thread - 1];
    uint32_t last = 0;
    const bool has_places = Below(2) == 0;
    for (int i = 0; i < size_; ++i) {
      const uint32_t node = ++last_node_ + 100 * Below(2);
      last_node_ = node;
      delta.add_new_node(static_cast<int32_t>(node - std::exchange(last, node)));
      delta.add_new_parent(nodes.empty() ? 0 : nodes[Below(nodes.size())]);
      delta.add_new_routine(Below(kRoutines + 1));
      if (has_places) delta.add_new_place(Below(1 << (1 + Below(17))));
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
      sample.set_labels(Below(kThreads + 1));
      if (Below(2) == 0) sample.set_node(nodes[Below(nodes.size())]);
      for (uint32_t frames = 1 + Below(12); frames > 0; --frames) {
        sample.add_frame(Below(kRoutines));
      }
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

}  // namespace

proto::Chunk RandomChunk(uint32_t seed) { return ChunkMaker(seed).Take(); }

}  // namespace jtrace::testing
