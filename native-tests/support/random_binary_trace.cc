#include <string>
#include <utility>
#include <vector>

#include "native-tests/support/random.h"
#include "native-tests/support/random_trace.h"
#include "native-tests/support/trace_builder.h"

namespace jtrace::testing {
namespace {

// The definitions of a random binary trace so far.
class BinaryTrace {
 public:
  explicit BinaryTrace(uint64_t seed) : random_(seed) {}

  std::string Make() {
    for (int chunks = 1 + static_cast<int>(random_.Below(4)); chunks > 0; --chunks) {
      Define();
      DefineFrames();
      for (uint64_t left = random_.Below(25); left > 0; --left) AddRecord();
      builder_.Seal();
    }
    if (random_.OneIn(2)) {
      builder_.chunk().mutable_session_end()->set_reason(proto::SessionEnd::VM_DEATH);
    }
    return builder_.Finish();
  }

 private:
  void Define() {
    static const std::vector<std::string> thread_names = {"main", "main", "", "pool-1", "C:odd"};
    static const std::vector<std::string> class_names = {"a.B", "c.D$$Lambda$7/0x12", "c.D$E", "F"};
    static const std::vector<std::string> methods = {"run", "get", "<init>"};
    static const std::vector<std::string> descriptors = {"()V", "()I", "(Lx/T;)V", "(Ly/T;)V",
                                                         "bad"};
    if (threads_.empty() || random_.OneIn(2)) {
      const bool is_virtual = random_.OneIn(3);
      threads_.push_back(builder_.Thread(random_.Pick(thread_names),
                                         is_virtual ? 0 : static_cast<int64_t>(random_.Below(3)),
                                         static_cast<int64_t>(random_.Below(5))));
    }
    if (random_.OneIn(5)) builder_.Rename(random_.Pick(threads_), "renamed", 5);
    for (uint64_t left = 2 + random_.Below(3); left > 0; --left) {
      const uint32_t owner =
          builder_.Class(random_.Pick(class_names), static_cast<uint32_t>(random_.Below(3)));
      const std::string& name = random_.Pick(methods);
      const std::string& descriptor = random_.Pick(descriptors);
      if (!random_.OneIn(4)) {
        routines_.push_back(builder_.Routine(owner, name, descriptor));
        proto::Routine& routine = *builder_.chunk().mutable_routine()->rbegin();
        if (random_.OneIn(3)) {
          routine.set_kind(static_cast<proto::Routine::Kind>(random_.Below(6)));
          routine.set_cost(static_cast<proto::Routine::Cost>(random_.Below(5)));
        }
      }
      if (!random_.OneIn(4)) methods_.push_back(builder_.Method(owner, name, descriptor));
    }
    if (routines_.empty()) {
      routines_.push_back(builder_.Routine(builder_.Class("Z"), "z", "()V"));
    }
    if (methods_.empty()) methods_.push_back(builder_.Method(builder_.Class("Z"), "z", "()V"));
  }

  void DefineFrames() {
    frames_.clear();
    for (uint64_t left = 3 + random_.Below(6); left > 0; --left) {
      const auto kind = static_cast<proto::Frame::Kind>(random_.Below(8));
      uint64_t value = random_.Pick(methods_);
      if (kind == proto::Frame::NATIVE) value = 0x1000 + random_.Below(4);
      if (kind == proto::Frame::STUB) value = builder_.String("C:stub");
      if (kind == proto::Frame::KERNEL) value = builder_.String("do_\tread!x");
      if (kind == proto::Frame::MARKER) value = builder_.String("[truncated]");
      frames_.push_back(builder_.Frame(kind, value));
      if (random_.OneIn(4)) {
        builder_.chunk().mutable_frame()->rbegin()->set_place(
            static_cast<uint32_t>(random_.Below(9)));
      }
    }
  }

  void AddRecord() {
    const uint32_t thread = random_.Pick(threads_);
    time_ += random_.Below(50);
    switch (random_.Below(13)) {
      case 12:
        AddHookCalls(thread);
        break;
      case 9:
        AddCode(thread);
        break;
      case 10:
        builder_.Event(time_, random_.OneIn(9) ? 0 : thread, format::kSession, format::kSessionLoss,
                       static_cast<int64_t>(random_.Below(50)));
        break;
      case 11:
        if (!nodes_.empty() && random_.OneIn(3)) Prune(thread);
        break;
      case 0: {
        const bool at_root = nodes_.empty() || random_.OneIn(3);
        const auto parent =
            at_root ? std::pair<uint32_t, uint32_t>(thread, 0) : random_.Pick(nodes_);
        nodes_.emplace_back(parent.first,
                            builder_.Node(parent.first, parent.second, random_.Pick(routines_)));
        proto::TreeDelta& delta = *builder_.chunk().mutable_tree()->rbegin();
        if (random_.OneIn(2)) delta.add_new_place(static_cast<uint32_t>(random_.Below(9)));
        break;
      }
      case 1:
        if (!nodes_.empty()) {
          const auto [owner, node] = random_.Pick(nodes_);
          const uint64_t calls = random_.Below(1000);
          builder_.Count(owner, node, calls, random_.Below(calls + 1));
          if (random_.OneIn(2)) AddTimes(*builder_.chunk().mutable_tree()->rbegin());
          if (random_.OneIn(2)) AddMetric(*builder_.chunk().mutable_tree()->rbegin(), node);
        }
        break;
      case 2:
        builder_.FlatCount(thread, random_.Pick(routines_), random_.Below(100), random_.Below(9));
        break;
      case 3:
        AddLog(thread);
        break;
      case 4:
        builder_.Event(time_, thread, format::kThreadSwitch,
                       random_.OneIn(2) ? 1 : format::kEnd + 1);
        break;
      case 5:
        builder_.Event(time_, random_.OneIn(2) ? 0 : thread, format::kGc, format::kGcCycle, 3);
        break;
      default:
        AddSample(thread);
    }
  }

  // For the only node of `delta`.
  void AddTimes(proto::TreeDelta& delta) {
    delta.add_base_ns(random_.Below(5000));
    delta.add_off_ns(random_.Below(2) * random_.Below(900));
    delta.add_min_base_ns(random_.Below(50));
    delta.add_max_base_ns(delta.min_base_ns(0) + random_.Below(500));
  }

  // A metric's totals at `node` and at the thread's root, and an event of it: values only at nodes
  // that are pruned later are recorded nowhere else.
  void AddMetric(proto::TreeDelta& delta, uint32_t node) {
    const uint32_t name = builder_.String(random_.Pick(RandomMetrics()));
    proto::NodeMetric& metric = *delta.add_metric();
    metric.set_name(name);
    metric.add_node(0);
    metric.add_value(static_cast<int64_t>(random_.Below(50)));
    metric.add_node(static_cast<int32_t>(node));
    metric.add_value(static_cast<int64_t>(random_.Below(900)) - 100);
    proto::Event& event =
        builder_.Event(time_, delta.thread(), format::kMetric, format::kMetricEvent,
                       static_cast<int64_t>(random_.Below(9)));
    event.set_text(name);
  }

  void AddCode(uint32_t thread) {
    const uint32_t minor = static_cast<uint32_t>(1 + random_.Below(2));
    proto::Event& event = builder_.Event(time_, random_.OneIn(2) ? 0 : thread, format::kJit, minor);
    proto::CodeEvent& code = *event.mutable_code_event();
    code.set_address(0x7000 + random_.Below(3));
    code.set_size(random_.Below(5000));
    code.set_method(random_.Pick(methods_));
    code.set_level(static_cast<uint32_t>(random_.Below(5)));
    code.set_native_wrapper(random_.OneIn(8));
    if (random_.OneIn(4)) code.set_osr_entry(static_cast<uint32_t>(1 + random_.Below(9)));
    code.set_bytecodes(static_cast<uint32_t>(random_.Below(999)));
    code.set_modifiers(static_cast<uint32_t>(random_.Below(1 << 12)));
    for (uint64_t rows = random_.Below(3); minor == format::kJitInlining && rows > 0; --rows) {
      code.add_pc(static_cast<uint32_t>(random_.Below(900)));
      code.add_depth(static_cast<uint32_t>(random_.Below(4)));
      for (uint32_t i = 0; i < *code.depth().rbegin(); ++i) {
        code.add_inlined(random_.OneIn(8) ? 0 : random_.Pick(methods_));
        code.add_bci(static_cast<int32_t>(random_.Below(60)) - 1);
        if (random_.OneIn(2)) code.add_inlined_bytecodes(static_cast<uint32_t>(random_.Below(999)));
      }
    }
  }

  void Prune(uint32_t thread) {
    const auto [owner, node] = random_.Pick(nodes_);
    proto::TreeDelta& delta = *builder_.chunk().add_tree();
    delta.set_thread(owner);
    delta.add_pruned_node(static_cast<int32_t>(node));
    if (random_.OneIn(3)) {
      builder_.chunk().add_tree()->set_thread(thread);
      builder_.chunk().mutable_tree()->rbegin()->set_folded_threads(random_.Below(99));
    }
  }

  void AddLog(uint32_t thread) {
    proto::EventLog& log = *builder_.chunk().add_log();
    log.set_thread(thread);
    log.set_time_ns(time_);
    for (uint64_t left = random_.Below(8); left > 0; --left) {
      log.add_op(random_.Pick(routines_) << 2 | static_cast<uint32_t>(random_.Below(4)));
      log.add_delta_ns(random_.Below(30));
    }
  }

  void AddHookCalls(uint32_t thread) {
    static const std::vector<std::string> names = {"", "libc.so.6!malloc", "libjvm.so!os::x(A, B)",
                                                   "free"};
    if (hooks_ == 0 || random_.OneIn(3)) {
      hooks_ = builder_.Hook(random_.Pick(names), 0x1000 + random_.Below(4),
                             static_cast<proto::Hook::Kind>(random_.Below(4)),
                             random_.OneIn(2) ? "libc.so.6!*" : "");
    }
    const auto hook = static_cast<uint32_t>(1 + random_.Below(hooks_));
    const uint32_t node = nodes_.empty() || random_.OneIn(3) ? 0 : random_.Pick(nodes_).second;
    // Now and then one in a method's code.
    const uint64_t caller = random_.OneIn(4) ? 0 : 0x6ffe + random_.Below(6);
    proto::HookCalls& calls =
        builder_.HookCalls(hook, random_.OneIn(9) ? 0 : thread, node, caller, random_.Below(1000));
    if (random_.OneIn(6)) calls.set_position_unknown(true);
    if (random_.OneIn(4)) calls.add_jumped(static_cast<uint32_t>(1 + random_.Below(hooks_ + 1)));
    if (random_.OneIn(2)) return;
    calls.set_timed(random_.Below(3));
    calls.set_total_ns(random_.Below(90000));
    calls.set_min_ns(random_.Below(50));
    calls.set_max_ns(calls.min_ns() + random_.Below(900));
  }

  void AddSample(uint32_t thread) {
    const uint32_t node = nodes_.empty() || random_.OneIn(3) ? 0 : random_.Pick(nodes_).second;
    proto::Sample& sample = builder_.Sample(time_, thread, node, {});
    for (uint64_t left = random_.Below(6); left > 0; --left) {
      sample.add_frame(random_.Pick(frames_));
    }
    if (random_.OneIn(4)) sample.set_weight(static_cast<uint32_t>(random_.Below(9)));
    if (random_.OneIn(6)) sample.set_major(format::kInstrumentedUnwind);
    if (random_.OneIn(6)) sample.set_position_unknown(true);
    if (random_.OneIn(4)) {
      // One more than there are.
      sample.set_state(static_cast<proto::Sample::State>(random_.Below(9)));
      sample.set_blocker_class(static_cast<uint32_t>(random_.Below(5)));
    }
  }

  Random random_;
  TraceBuilder builder_;
  uint64_t time_ = 0;
  std::vector<uint32_t> threads_;
  std::vector<uint32_t> routines_;
  std::vector<uint32_t> methods_;
  std::vector<std::pair<uint32_t, uint32_t>> nodes_;  // thread, node
  std::vector<uint32_t> frames_;                      // of this chunk
  uint32_t hooks_ = 0;
};

}  // namespace

std::string RandomBinaryTrace(uint64_t seed) { return BinaryTrace(seed).Make(); }

}  // namespace jtrace::testing
