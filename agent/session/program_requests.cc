#include "agent/session/program_requests.h"

#include <algorithm>
#include <atomic>
#include <exception>

#include "absl/container/btree_set.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "agent/base/agent_thread.h"
#include "agent/jvm/loaded_classes.h"
#include "agent/metrics/method_pattern.h"
#include "agent/recording/counted_threads.h"
#include "agent/samples/handler/thread_labels.h"
#include "agent/session/jvm_session.h"
#include "agent/session/scoped_java_thread.h"

namespace jtrace {
namespace {

using metrics::MethodTotals;
using metrics::Metric;
using metrics::TreeWindows;

constexpr auto kCalls = static_cast<uint32_t>(Metric::kCalls);
constexpr auto kCpu = static_cast<uint32_t>(Metric::kCpu);

std::string Row(absl::string_view name, absl::string_view unit, absl::string_view exactness,
                absl::string_view cost, metrics::Reach reach, absl::string_view what) {
  return absl::StrJoin({name, unit, exactness, cost, metrics::ReachName(reach), what}, "\t");
}

bool IsCall(proto::Routine::Kind kind) {
  return kind == proto::Routine::METHOD || kind == proto::Routine::CALL ||
         kind == proto::Routine::NATIVE;
}

struct NamedRoutine {
  uint32_t id;  // Routine.id
  std::string class_name;
  std::string name;
  std::string descriptor;
};

// Only copies under the encoder's mutex, because threads that write records wait for it meanwhile,
// and so may a garbage collection inside a safepoint.
template <typename Wants>
std::vector<NamedRoutine> CopyRoutines(JvmState& jvm, Wants wants) {
  std::vector<NamedRoutine> copies;
  jvm.trace.encoder.ForEachRoutine([&](uint32_t id, const trace::RoutineText& routine) {
    if (!wants(id, routine.kind)) return;
    copies.push_back({id, std::string(routine.class_name), std::string(routine.name),
                      std::string(routine.descriptor)});
  });
  return copies;
}

std::vector<NamedRoutine> CopyCalls(JvmState& jvm) {
  return CopyRoutines(jvm, [](uint32_t, proto::Routine::Kind kind) { return IsCall(kind); });
}

}  // namespace

metrics::ThreadCounters& NativeRequests::counters() { return session_.agent().metrics.counters(); }

std::optional<metrics::ThreadCounters::Identity> NativeRequests::RegisterThread() {
  return RegisterCallingThread(session_.agent());
}

void NativeRequests::CallWhereJavaRuns(const std::function<void()>& call) {
  JNIEnv* jni = nullptr;
  if (session_.agent().jvm.vm->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_10) == JNI_OK &&
      jni->ExceptionCheck() == JNI_FALSE) {
    return call();
  }
  std::exception_ptr failure;
  AgentThread thread;
  thread.Start("jtrace java", [&] {
    try {
      call();
    } catch (...) {
      failure = std::current_exception();
    }
  });
  thread.Join();
  if (failure) std::rethrow_exception(failure);
}

void NativeRequests::RegisterThreads() {
  CallWhereJavaRuns([this] {
    const ScopedJavaThread scope(session_.agent().jvm.vm);
    if (const auto jni = scope.jni(); jni.ok()) CountRunningThreads(session_.agent(), *jni);
  });
}

absl::StatusOr<metrics::MethodTotals> NativeRequests::Method(std::optional<uint64_t> java_tid,
                                                             uint32_t metric,
                                                             absl::string_view pattern) {
  return requests_.Method(java_tid, metric, pattern);
}

absl::StatusOr<uint64_t> NativeRequests::OpenWindow(std::optional<uint64_t> java_tid) {
  return requests_.OpenWindow(
      java_tid ? metrics::WindowScope::kThread : metrics::WindowScope::kProcess,
      java_tid.value_or(0));
}

absl::StatusOr<metrics::MethodTotals> NativeRequests::WindowMethod(uint64_t window, uint32_t metric,
                                                                   absl::string_view pattern) {
  return requests_.WindowMethod(window, metric, pattern);
}

bool NativeRequests::CloseWindow(uint64_t window) {
  bool was_open = false;
  const absl::Status asked =
      session_.QueryTrees([&](metrics::TreeWindows& windows) { was_open = windows.Close(window); });
  return asked.ok() && was_open;
}

events::Segments& NativeRequests::segments() { return session_.agent().events.segments; }

absl::StatusOr<std::string> NativeRequests::Command(absl::string_view verb,
                                                    absl::string_view argument) {
  absl::StatusOr<std::string> answer = "";
  CallWhereJavaRuns([&] { answer = session_.RunCommand(verb, argument); });
  return answer;
}

std::vector<std::string> JavaRequests::Describe() {
  metrics::ThreadCounters& counters = session_.agent().metrics.counters();
  std::vector<std::string> rows(signal_safe::kMaxMetrics);
  for (const metrics::MetricInfo& info : metrics::AllMetrics()) {
    const auto number = static_cast<uint32_t>(info.metric);
    if (!counters.Check(number).ok()) continue;
    rows[number] = Row(info.name, info.unit, info.exactness, info.cost, info.reach, info.what);
  }
  size_t number = metrics::kFirstUser;
  for (const auto& user : counters.users().All()) {
    const bool by_thread = user.counting == metrics::Counting::kByThread;
    rows[number++] = Row(user.name, user.unit, "exact", "2 ns an update",
                         by_thread ? metrics::Reach::kThread : metrics::Reach::kProcess,
                         "one of the program's own counters");
  }
  return rows;
}

absl::StatusOr<int64_t> JavaRequests::TotalOf(JNIEnv* jni, jthread thread, uint32_t metric) {
  return session_.agent().metrics.TotalOf(jni, thread, metric);
}

absl::StatusOr<int64_t> JavaRequests::ProcessTotal(uint32_t metric) {
  return session_.agent().metrics.counters().Process(metric);
}

absl::StatusOr<uint32_t> JavaRequests::Counter(absl::string_view name, absl::string_view unit) {
  return session_.agent().metrics.counters().users().Register(name, unit);
}

absl::StatusOr<size_t> JavaRequests::ColumnOf(uint32_t metric,
                                              const std::vector<uint8_t>& charged) const {
  if (metric == kCalls) return metrics::kCallsColumn;
  const auto found = std::find(charged.begin(), charged.end(), metric);
  if (found != charged.end()) return 1 + static_cast<size_t>(found - charged.begin());
  const std::string name = session_.agent().metrics.counters().NameOf(metric);
  if (metric < metrics::kFirstUser && (metrics::kTaggedObjectMetrics >> metric & 1) != 0) {
    return absl::OutOfRangeError(absl::StrCat(
        name, " by call path is in traces only; ask for the process's total, or dump one"));
  }
  if (metric == kCpu) {
    return absl::OutOfRangeError(
        absl::StrCat(name, " by call path needs a recording with clock=cpu, and a window's paths"));
  }
  return absl::OutOfRangeError(absl::StrCat(
      name, " is not charged to call paths in this recording; begin one with metrics=", name));
}

absl::flat_hash_set<std::string> JavaRequests::FindImplementors(
    const std::string& class_name) const {
  JNIEnv* jni = nullptr;
  JvmState& jvm = session_.agent().jvm;
  const bool is_java = jvm.vm->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_10) == JNI_OK;
  if (class_name.empty() || !is_java) return {};
  return jvm::ImplementorsOf(jvm.env, jni, class_name);
}

absl::StatusOr<metrics::Routines> JavaRequests::RoutinesOf(absl::string_view text) const {
  const auto pattern = metrics::MethodPattern::Parse(text);
  if (!pattern.ok()) return pattern.status();
  const auto implementors = FindImplementors(pattern->class_name());
  metrics::Routines routines;
  for (const NamedRoutine& call : CopyCalls(session_.agent().jvm)) {
    const bool is_below = implementors.contains(call.class_name);
    const std::string& class_name = is_below ? pattern->class_name() : call.class_name;
    if (pattern->Matches(class_name, call.name, call.descriptor)) routines.insert(call.id);
  }
  return routines;
}

JavaRequests::Tree JavaRequests::Ask(const AskTree& ask) const {
  Tree tree = absl::UnknownError("not asked");
  const absl::Status status =
      session_.QueryTrees([&](TreeWindows& windows) { tree = ask(windows); });
  return status.ok() ? std::move(tree) : Tree(status);
}

absl::StatusOr<MethodTotals> JavaRequests::TotalsIn(uint32_t metric, absl::string_view pattern,
                                                    const AskTree& ask) const {
  // Read with the tree, because another recording may begin afterwards.
  std::vector<uint8_t> charged;
  const Tree tree = Ask([&](TreeWindows& windows) {
    charged = windows.metric_numbers();
    return ask(windows);
  });
  if (!tree.ok()) return tree.status();
  const auto column = ColumnOf(metric, charged);
  if (!column.ok()) return column.status();
  const auto routines = RoutinesOf(pattern);
  if (!routines.ok()) return routines.status();
  return tree->Totals(*routines, *column);
}

absl::StatusOr<MethodTotals> JavaRequests::Method(std::optional<uint64_t> java_tid, uint32_t metric,
                                                  absl::string_view pattern) {
  return TotalsIn(metric, pattern,
                  [&](TreeWindows& windows) { return windows.SinceStart(java_tid); });
}

absl::StatusOr<uint64_t> JavaRequests::OpenWindow(metrics::WindowScope scope, uint64_t java_tid) {
  static std::atomic<uint64_t> last{0};
  const uint64_t window = ++last;
  if (scope == metrics::WindowScope::kDescendants) {
    session_.agent().metrics.FollowVirtualThreads();
    session_.agent().descendants.Begin(window, java_tid);
  }
  const absl::Status status =
      session_.QueryTrees([&](TreeWindows& windows) { windows.Open(window, scope, java_tid); });
  if (status.ok()) return window;
  session_.agent().descendants.End(window);
  return status;
}

absl::StatusOr<MethodTotals> JavaRequests::WindowMethod(uint64_t window, uint32_t metric,
                                                        absl::string_view pattern) {
  return TotalsIn(metric, pattern, [&](TreeWindows& windows) { return windows.CountsOf(window); });
}

absl::StatusOr<std::string> JavaRequests::WindowPaths(uint64_t window, uint32_t metric,
                                                      absl::string_view below,
                                                      absl::string_view pattern, int top) {
  metrics::Routines roots;
  metrics::Routines ends;
  for (const auto& [text, routines] : {std::pair(below, &roots), std::pair(pattern, &ends)}) {
    if (text.empty()) continue;
    auto found = RoutinesOf(text);
    if (!found.ok()) return found.status();
    *routines = *std::move(found);
  }
  bool has_cpu_time = false;
  std::vector<uint8_t> charged;
  const Tree tree = Ask([&](TreeWindows& windows) {
    has_cpu_time = windows.has_cpu_time();
    charged = windows.metric_numbers();
    return windows.CountsOf(window, below.empty() ? nullptr : &roots);
  });
  if (!tree.ok()) return tree.status();
  const auto column = metric == kCpu && has_cpu_time ? absl::StatusOr<size_t>(metrics::kCpuColumn)
                                                     : ColumnOf(metric, charged);
  if (!column.ok()) return column.status();
  return Text(
      tree->Top(*column, static_cast<size_t>(std::max(top, 0)), pattern.empty() ? nullptr : &ends));
}

std::string JavaRequests::Text(const std::vector<metrics::PathShare>& shares) const {
  metrics::Routines named;
  for (const metrics::PathShare& share : shares) {
    named.insert(share.routines.begin(), share.routines.end());
  }
  absl::flat_hash_map<uint32_t, std::string> names = {{signal_safe::kPrunedRoutine, "[pruned]"}};
  const auto is_named = [&](uint32_t id, proto::Routine::Kind) { return named.contains(id); };
  for (const NamedRoutine& routine : CopyRoutines(session_.agent().jvm, is_named)) {
    names[routine.id] = metrics::MethodText(routine.class_name, routine.name, routine.descriptor);
  }
  std::string text;
  for (const metrics::PathShare& share : shares) {
    absl::StrAppend(&text, share.value);
    for (const uint32_t routine : share.routines) absl::StrAppend(&text, "\t", names[routine]);
    text += '\n';
  }
  return text;
}

absl::StatusOr<std::optional<std::string>> JavaRequests::NearestMethod(absl::string_view pattern) {
  const auto routines = RoutinesOf(pattern);
  if (!routines.ok()) return routines.status();
  if (!routines->empty()) return std::nullopt;
  const bool has_parameters = absl::StrContains(pattern, "(");
  absl::btree_set<std::string> names;
  for (const NamedRoutine& call : CopyCalls(session_.agent().jvm)) {
    std::string text = metrics::MethodText("", call.name, call.descriptor).substr(1);
    if (!has_parameters) text.resize(text.find('('));
    names.insert(absl::StrCat(call.class_name, "::", text));
  }
  return metrics::NearestMethod(pattern, {names.begin(), names.end()});
}

void JavaRequests::CloseWindow(uint64_t window) {
  session_.agent().descendants.End(window);
  // An ended recording has already closed its windows.
  session_.QueryTrees([&](TreeWindows& windows) { windows.Close(window); }).IgnoreError();
}

absl::StatusOr<int64_t> JavaRequests::WindowTotal(uint64_t window, uint32_t metric) {
  const metrics::ThreadCounters& counters = session_.agent().metrics.counters();
  if (absl::Status status = counters.Check(metric); !status.ok()) return status;
  const auto family = session_.agent().descendants.DescendantsOf(window);
  int64_t sum = family.ended[metric];
  for (const uint64_t java_tid : family.running) {
    // A virtual thread is first seen when it runs on a carrier for the first time.
    sum += counters.Of(java_tid, metric).value_or(0);
  }
  return sum;
}

uint32_t JavaRequests::Labels(uint32_t outer, absl::string_view key, absl::string_view value) {
  return session_.agent().jvm.trace.labels.With(outer, key, value);
}

void JavaRequests::SetLabels(uint32_t number, uint64_t virtual_tid) {
  if (samples::SetLabels(number, virtual_tid)) return;
  session_.agent().jvm.trace.losses.Add(
      "labels.virtual_threads", Severity::kWarning, 1,
      "labels of virtual threads that were not set: about 65,000 of these had labels",
      "close labels with try (Label label = …)");
}

events::Segments& JavaRequests::segments() { return session_.agent().events.segments; }

absl::StatusOr<std::string> JavaRequests::Command(absl::string_view verb,
                                                  absl::string_view argument) {
  return session_.RunCommand(verb, argument);
}

}  // namespace jtrace
