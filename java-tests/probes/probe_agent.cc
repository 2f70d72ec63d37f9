// A JVMTI agent with only the probes, for tests and benchmarks of them: installs them, collects
// once every 100 ms like the writer thread and prints the tree on stderr at the end. Options: flat,
// log, clock=coarse|tsc|cpu, memory=BYTES, stoplog=EVENTS, wait (for room in logs), stuck (collects
// at the end only), quiet (totals only).
#include <jvmti.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "agent/calls/logs/log_collector.h"
#include "agent/calls/probe_natives.h"
#include "agent/calls/probes.h"
#include "agent/calls/trees/flat_collector.h"
#include "agent/calls/trees/tree_collector.h"
#include "agent/signal_safe/arena.h"
#include "agent/signal_safe/arena_ref.h"
#include "agent/signal_safe/atomic_access.h"
#include "agent/signal_safe/probe_clock.h"
#include "agent/signal_safe/thread_state.h"
#include "agent/signal_safe/tree_node.h"

namespace {

constexpr uint32_t kRoutineLimit = 100'000;

// Everything known about the run, as jtrace-post would learn it: only what updates reported.
class Report {
 public:
  Report(jtrace::calls::Probes& probes, bool flat, uint64_t stop_log)
      : arena_(probes.arena()),
        clock_(probes.clock()),
        stop_log_(stop_log),
        tree_(arena_,
              {.clock = clock_,
               .scale =
                   clock_ == jtrace::signal_safe::ProbeClock::kNone ? nullptr : &probes.scale()}),
        flat_(arena_),
        log_(arena_, clock_, probes.scale()) {
    is_flat_ = flat;
    tree_.OnThreadEnd([this](const jtrace::signal_safe::ThreadState& state) {
      log_.Finish(state, [this](const jtrace::calls::LogRun& run) { AddLog(run); });
    });
  }

  void LetThreadsWait() { log_.LetThreadsWait(); }

  void Collect() {
    std::lock_guard lock(mutex_);
    if (is_flat_) {
      flat_.Collect(kRoutineLimit,
                    [this](const jtrace::calls::FlatUpdate& update) { AddFlat(update); });
      return;
    }
    while (log_.Poll([this](const jtrace::calls::LogRun& run) { AddLog(run); })) {
    }
    if (stop_log_ != 0 && log_.events() > stop_log_) log_.StopLogs();
    tree_.Poll();
    tree_.Collect([this](const jtrace::calls::TreeUpdate& update) { AddTree(update); });
    for (const jtrace::calls::RoutineUpdate& update : tree_.CollectWithoutTree(kRoutineLimit)) {
      counts_["/none/" + std::to_string(update.routine)].calls = update.calls;
    }
  }

  void Print(bool quiet) {
    log_.EndFile(/*is_last=*/true, [this](const jtrace::calls::LogRun& run) { AddLog(run); });
    if (!quiet) {
      for (const auto& [path, counts] : Paths()) {
        fprintf(stderr, "path %s %llu %llu\n", path.c_str(), counts.calls, counts.jitted);
      }
    }
    const uint64_t calls = is_flat_ ? flat_.total_calls() : tree_.total_calls() + logged_calls_;
    fprintf(stderr,
            "total calls=%llu nodes=%u ended=%u pruned=%llu bytes=%llu events=%llu dropped=%llu "
            "open=%u clock=%llu\n",
            ull{calls}, tree_.nodes_reported(), ended_,
            ull{tree_.pruned_calls() + tree_.calls_without_tree()},
            ull{jtrace::signal_safe::ReadRelaxed(arena_->next)}, ull{log_.events()},
            ull{log_.dropped_calls()}, OpenInLog(), static_cast<ull>(clock_));
    for (const auto& [path, time] : times_) {
      fprintf(stderr, "time %s %llu %llu %llu %llu\n", path.c_str(), ull{time.base}, ull{time.off},
              ull{time.least}, ull{time.greatest});
    }
  }

 private:
  using ull = unsigned long long;
  struct Counts {
    ull calls = 0, jitted = 0;
  };

  void AddTree(const jtrace::calls::TreeUpdate& update) {
    for (const jtrace::calls::NodeUpdate& node : update.nodes) {
      if (node.is_new) path_[node.node] = path_[node.parent] + "/" + std::to_string(node.routine);
      counts_[path_[node.node]].calls += node.calls - last_[node.node].calls;
      counts_[path_[node.node]].jitted += node.jitted - last_[node.node].jitted;
      last_[node.node] = {node.calls, node.jitted};
      if (clock_ != jtrace::signal_safe::ProbeClock::kNone) times_[path_[node.node]] = node.values;
    }
    ended_ += update.ended;
  }

  using Open = std::vector<std::pair<uint32_t, std::string>>;

  // The state of a reader of the log: an exit ends the nearest open activation of its routine.
  void AddLog(const jtrace::calls::LogRun& run) {
    Open& open = open_[run.java_tid];
    size_t next = 0;
    for (const jtrace::calls::LogControl& control : run.controls) {
      for (; next < control.index; ++next) AddOp(run.ops[next], open);
      if (control.kind == jtrace::signal_safe::LogRecordKind::kAt) open = PathTo(control.value);
    }
    for (; next < run.ops.size(); ++next) AddOp(run.ops[next], open);
    if (!std::is_sorted(run.times.begin(), run.times.end())) ++unsorted_runs_;
  }

  void AddOp(uint32_t op, Open& open) {
    const uint32_t routine = op >> 2;
    if ((op & 2) == 0) {
      open.emplace_back(routine,
                        (open.empty() ? "" : open.back().second) + "/" + std::to_string(routine));
      Counts& counts = counts_[open.back().second];
      ++counts.calls;
      counts.jitted += op & 1;
      ++logged_calls_;
      return;
    }
    size_t depth = open.size();
    while (depth != 0 && open[depth - 1].first != routine) --depth;
    if (depth != 0) open.resize(depth - 1);
  }

  Open PathTo(uint64_t ref) const {
    std::vector<uint32_t> routines;
    using jtrace::signal_safe::At;
    const auto* node =
        At<jtrace::signal_safe::Node>(arena_, static_cast<jtrace::signal_safe::Ref>(ref));
    for (; node->routine != 0; node = At<jtrace::signal_safe::Node>(arena_, node->parent)) {
      routines.push_back(node->routine);
    }
    Open open;
    std::string path;
    for (; !routines.empty(); routines.pop_back()) {
      path += "/" + std::to_string(routines.back());
      open.emplace_back(routines.back(), path);
    }
    return open;
  }

  unsigned OpenInLog() const {
    size_t sum = unsorted_runs_ * 1'000'000;
    for (const auto& [tid, open] : open_) sum += open.size();
    return static_cast<unsigned>(sum);
  }

  void AddFlat(const jtrace::calls::FlatUpdate& update) {
    auto& last = flat_last_[update.java_tid];
    for (const jtrace::calls::RoutineUpdate& routine : update.routines) {
      Counts& counts = counts_[std::to_string(routine.routine)];
      counts.calls += routine.calls - last[routine.routine].calls;
      counts.jitted += routine.jitted - last[routine.routine].jitted;
      last[routine.routine] = {routine.calls, routine.jitted};
    }
    ended_ += update.ended;
  }

  // Paths are summed over threads.
  const std::map<std::string, Counts>& Paths() const { return counts_; }

  std::mutex mutex_;
  jtrace::signal_safe::Arena* arena_;
  const jtrace::signal_safe::ProbeClock clock_;
  const uint64_t stop_log_;
  jtrace::calls::TreeCollector tree_;
  jtrace::calls::FlatCollector flat_;
  jtrace::calls::LogCollector log_;
  // By thread: the open activations, routine and path.
  std::map<uint64_t, std::vector<std::pair<uint32_t, std::string>>> open_;
  uint64_t logged_calls_ = 0;
  unsigned unsorted_runs_ = 0;
  std::map<std::string, jtrace::calls::NodeValues> times_;
  bool is_flat_;
  unsigned ended_ = 0;
  std::map<uint32_t, std::string> path_;
  std::map<uint32_t, Counts> last_;
  std::map<uint64_t, std::map<uint32_t, Counts>> flat_last_;
  std::map<std::string, Counts> counts_;
};

jtrace::calls::ProbeOptions probe_options;
uint64_t stop_log = 0;
bool quiet = false;
bool waits = false;
bool is_stuck = false;
std::unique_ptr<jtrace::calls::Probes> probes;
std::unique_ptr<Report> report;
std::atomic<bool> stopping{false};
std::thread collector;

jlong ThreadId(JNIEnv* jni, jthread thread) {
  static jfieldID field = jni->GetFieldID(jni->FindClass("java/lang/Thread"), "tid", "J");
  return jni->GetLongField(thread, field);
}

void JNICALL OnVmInit(jvmtiEnv* jvmti, JNIEnv* jni, jthread) {
  auto installed = jtrace::calls::DefineProbes(jvmti, jni, probe_options);
  if (!installed.ok()) {
    fprintf(stderr, "install: %s\n", std::string(installed.status().message()).c_str());
    _exit(1);
  }
  probes = std::move(*installed);
  report = std::make_unique<Report>(*probes, probe_options.flat, stop_log);
  if (waits) {
    if (!jtrace::calls::DefineLogWait(jni).ok()) _exit(1);
    report->LetThreadsWait();
  }
  collector = std::thread([] {
    while (!stopping) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      if (is_stuck) continue;
      report->Collect();
    }
  });
}

void JNICALL OnThreadEnd(jvmtiEnv*, JNIEnv* jni, jthread thread) {
  jtrace::signal_safe::NotifyThreadEnded(jtrace::signal_safe::published_arena.load(),
                                         static_cast<uint64_t>(ThreadId(jni, thread)));
}

void JNICALL OnVmDeath(jvmtiEnv*, JNIEnv*) {
  stopping = true;
  collector.join();
  report->Collect();
  report->Print(quiet);
}

// Virtual threads are newer than JDK 17's headers: event 88, and capability bit 44.
constexpr int kVirtualThreadEnd = 88;
struct LaterEventCallbacks {
  jvmtiEventCallbacks known;
  void* later[kVirtualThreadEnd - JVMTI_MAX_EVENT_TYPE_VAL];
};

void EnableVirtualThreadEnd(jvmtiEnv* jvmti, const jvmtiEventCallbacks& known) {
  jint version = 0;
  jvmti->GetVersionNumber(&version);
  if (((version >> 16) & 0xFFF) < 21) return;
  jvmtiCapabilities capabilities = {};
  reinterpret_cast<unsigned char*>(&capabilities)[44 / 8] = 1 << (44 % 8);
  if (jvmti->AddCapabilities(&capabilities) != JVMTI_ERROR_NONE) return;
  LaterEventCallbacks callbacks = {known, {}};
  callbacks.later[1] = reinterpret_cast<void*>(&OnThreadEnd);
  jvmti->SetEventCallbacks(&callbacks.known, sizeof callbacks);
  jvmti->SetEventNotificationMode(JVMTI_ENABLE, static_cast<jvmtiEvent>(kVirtualThreadEnd),
                                  nullptr);
}

}  // namespace

extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void*) {
  jvmtiEnv* jvmti = nullptr;
  if (vm->GetEnv(reinterpret_cast<void**>(&jvmti), JVMTI_VERSION_11) != JNI_OK) return JNI_ERR;
  const std::string text = options == nullptr ? "" : options;
  probe_options.flat = text.find("flat") != std::string::npos;
  quiet = text.find("quiet") != std::string::npos;
  waits = text.find("wait") != std::string::npos;
  is_stuck = text.find("stuck") != std::string::npos;
  const size_t stop = text.find("stoplog=");
  if (stop != std::string::npos) stop_log = std::stoull(text.substr(stop + 8));
  probe_options.log = text.find("log") != std::string::npos;
  using jtrace::signal_safe::ProbeClock;
  for (const auto& [name, clock] :
       {std::pair("clock=coarse", ProbeClock::kCoarse), std::pair("clock=tsc", ProbeClock::kTsc),
        std::pair("clock=cpu", ProbeClock::kCpu)}) {
    if (text.find(name) != std::string::npos) probe_options.clock = clock;
  }
  const size_t memory = text.find("memory=");
  if (memory != std::string::npos) {
    probe_options.memory_limit = std::stoull(text.substr(memory + 7));
  }
  jvmtiEventCallbacks callbacks = {};
  callbacks.VMInit = OnVmInit;
  callbacks.VMDeath = OnVmDeath;
  callbacks.ThreadEnd = OnThreadEnd;
  jvmti->SetEventCallbacks(&callbacks, sizeof callbacks);
  for (jvmtiEvent event : {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_THREAD_END}) {
    jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr);
  }
  EnableVirtualThreadEnd(jvmti, callbacks);
  return JNI_OK;
}
