#include "native-tests/support/random_log.h"

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "native-tests/support/trace_builder.h"

namespace jtrace::testing {
namespace {

constexpr uint32_t kRoutines = 5;

std::string Name(uint32_t routine) { return "p.C.m" + std::to_string(routine) + "()"; }

class LogMaker {
 public:
  explicit LogMaker(uint64_t seed) : random_(seed), clock_(random_() % 4 != 0) {
    const uint32_t owner = builder_.Class("p.C");
    for (uint32_t i = 1; i <= kRoutines; ++i) {
      builder_.Routine(owner, "m" + std::to_string(i), "()V");
      methods_.push_back(builder_.Method(owner, "m" + std::to_string(i), "()V"));
    }
    for (uint64_t i = 0; i <= Below(3); ++i) {
      const std::string name = "t" + std::to_string(i);
      threads_.push_back({builder_.Thread(name, static_cast<int64_t>(i + 1)), name, {}, 0});
    }
  }

  RandomLog Make() {
    RandomLog log;
    log.text = "# jtrace-text 1 unit=ns\n";
    uint64_t time = 100;
    for (uint64_t chunks = 1 + Below(4); chunks > 0; --chunks) {
      uint64_t latest = time;
      for (Thread& thread : threads_) {
        thread.time = time;
        AddRecords(thread);
        latest = std::max(latest, thread.time);
      }
      builder_.Seal();
      time = latest + Below(20);
    }
    AddTrees();
    log.text += text_;
    log.binary = builder_.Finish();
    return log;
  }

 private:
  struct Thread {
    uint32_t id = 0;
    std::string name;
    std::vector<uint32_t> open;
    uint64_t time = 0;
    std::map<std::vector<uint32_t>, uint32_t> nodes = {};  // of the tree, by path
  };
  // The order at equal times.
  enum Kind { kLog, kEvent, kSample };

  uint64_t Below(uint64_t below) { return random_() % below; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }

  void AddRecords(Thread& thread) {
    Kind last = kLog;
    const auto advance = [&](Kind kind) {
      if (clock_ || kind != kLog || last != kLog) thread.time += (kind < last ? 1 : 0) + Below(9);
      last = kind;
    };
    for (uint64_t left = Below(8); left > 0; --left) {
      switch (Below(5)) {
        case 0:
          advance(kEvent);
          AddSwitch(thread);
          break;
        case 1:
          advance(kSample);
          AddSample(thread);
          break;
        case 2:
          advance(kEvent);
          builder_.Event(thread.time, thread.id, format::kSession, format::kSessionLoss, 7);
          Line(thread, "session-loss\tvalue=7");
          break;
        default:
          advance(kLog);
          AddRun(thread);
      }
    }
  }

  void AddRun(Thread& thread) {
    proto::EventLog& log = *builder_.chunk().add_log();
    log.set_thread(thread.id);
    log.set_time_ns(thread.time);
    for (uint64_t left = 1 + Below(12); left > 0; --left) {
      AddTime(thread, log);
      if (OneIn(8)) {
        AddMark(thread, log);
        continue;
      }
      const bool exits = !thread.open.empty() && OneIn(2);
      uint32_t routine = static_cast<uint32_t>(1 + Below(kRoutines));
      if (exits && !OneIn(6)) routine = thread.open.back();  // else another one's: lost exits
      const bool jitted = OneIn(2);
      log.add_op(routine << 2 | (exits ? 2u : 0u) | (jitted ? 1u : 0u));
      Line(thread,
           std::string(exits ? "exit" : "enter") + (jitted ? ".j" : ".i") + "\t" + Name(routine));
      if (!exits) thread.open.push_back(routine);
      if (exits && thread.open.back() == routine) thread.open.pop_back();
    }
  }

  void AddTime(Thread& thread, proto::EventLog& log) {
    if (!clock_) return;
    const uint64_t delta = log.op_size() == 0 ? 0 : Below(4) * Below(300);
    log.add_delta_ns(delta);
    thread.time += delta;
  }

  // A position, or a dropped stretch; the value has a time, too.
  void AddMark(Thread& thread, proto::EventLog& log) {
    if (clock_) log.add_delta_ns(0);
    if (OneIn(3)) {
      const uint32_t events = static_cast<uint32_t>(Below(2000));
      log.add_op(format::kLogDropped);
      log.add_op(events);
      Line(thread, "session-loss\tvalue=" + std::to_string(events));
      return;
    }
    thread.open.resize(Below(thread.open.size() + 1));
    for (uint64_t left = Below(4); left > 0; --left) {
      thread.open.push_back(static_cast<uint32_t>(1 + Below(kRoutines)));
    }
    log.add_op(format::kLogPosition);
    log.add_op(NodeOf(thread, thread.open));
    Line(thread, "position" + PathFields(thread.open));
  }

  // 0: the root.
  uint32_t NodeOf(Thread& thread, std::vector<uint32_t> path) {
    if (path.empty()) return 0;
    const auto found = thread.nodes.find(path);
    if (found != thread.nodes.end()) return found->second;
    const uint32_t routine = path.back();
    std::vector<uint32_t> above = path;
    above.pop_back();
    const uint32_t node = builder_.Node(thread.id, NodeOf(thread, above), routine);
    thread.nodes.emplace(path, node);
    node_order_.emplace_back(&thread, std::move(path));
    return node;
  }

  static std::string PathFields(const std::vector<uint32_t>& path) {
    std::string fields;
    for (const uint32_t routine : path) fields += "\t" + Name(routine);
    return fields;
  }

  // Calls that the log left out are counted in the trees.
  void AddTrees() {
    for (const auto& [thread, path] : node_order_) {
      const uint64_t calls = Below(5);
      if (calls != 0) builder_.Count(thread->id, thread->nodes.at(path), calls, calls / 2);
      const std::string counts = calls == 0 ? ""
                                            : "calls=" + std::to_string(calls) +
                                                  ",calls_jitted=" + std::to_string(calls / 2);
      Line(*thread, "node\t" + counts + PathFields(path));
    }
  }

  void AddSwitch(Thread& thread) {
    const bool on = OneIn(2);
    builder_.Event(thread.time, thread.id, format::kThreadSwitch, on ? 1 : format::kEnd + 1);
    Line(thread, on ? "on" : "off");
  }

  void AddSample(Thread& thread) {
    proto::Sample& sample = builder_.Sample(thread.time, thread.id, 0, {});
    std::string fields;
    for (uint64_t left = Below(5); left > 0; --left) {
      const uint64_t method = Below(kRoutines);
      sample.add_frame(builder_.Frame(proto::Frame::COMPILED, methods_[method]));
      fields = "\tC:" + Name(static_cast<uint32_t>(method + 1)) + fields;  // root first
    }
    Line(thread, "sample" + fields);
  }

  void Line(const Thread& thread, const std::string& record) {
    text_ += std::to_string(thread.time) + "\t" + thread.name + "\t" + record + "\n";
  }

  std::mt19937_64 random_;
  const bool clock_;
  TraceBuilder builder_;
  std::vector<uint32_t> methods_;
  std::vector<Thread> threads_;
  std::vector<std::pair<Thread*, std::vector<uint32_t>>> node_order_;
  std::string text_;
};

}  // namespace

RandomLog MakeRandomLog(uint64_t seed) { return LogMaker(seed).Make(); }

}  // namespace jtrace::testing
