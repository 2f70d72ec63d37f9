#include "agent/samples/non_java_thread_source.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/base/clock.h"
#include "agent/samples/sampler.h"

namespace jtrace::samples {
namespace {

constexpr uint64_t kCheckPeriodNs = 100'000'000;
constexpr uint64_t kShareOfTime = 100;  // checks take at most one part in this many of the time
constexpr uint64_t kLateWorthReportingNs = 50'000'000;
// The most CPU time that the JVM takes to end a thread.
constexpr uint64_t kMaxToEndNs = 2'000'000;

std::string KernelName(pid_t tid) {
  std::ifstream file(absl::StrCat("/proc/self/task/", tid, "/comm"));
  std::string name;
  std::getline(file, name);
  return name;
}

}  // namespace

NonJavaThreadSource::NonJavaThreadSource(jvm::ThreadRegistry& threads, Sampler& sampler,
                                         const ThreadNameFilter& names,
                                         std::function<bool(pid_t)> is_agent_thread, Losses& losses)
    : threads_(threads),
      sampler_(sampler),
      names_(names),
      is_agent_thread_(std::move(is_agent_thread)),
      losses_(losses) {}

void NonJavaThreadSource::Attach(pid_t tid, SeenThread& state) {
  if (state.number == 0) {
    const std::string name = KernelName(tid);
    state.refused = !names_.Wants(name);
    if (state.refused) return;
    state.number = threads_.DefineNative(tid, name);
  }
  state.refused = !sampler_.AttachThread(tid, state.number, 0, 0).ok();  // the sampler counts it
}

void NonJavaThreadSource::AttachAll() {
  for (const pid_t tid : ListThreads()) {
    if (is_agent_thread_(tid)) continue;
    SeenThread& state = states_[tid];
    if (!threads_.HasJavaThread(tid)) Attach(tid, state);
  }
}

void NonJavaThreadSource::Poll(proto::Chunk&) {
  const uint64_t begin_ns = MonotonicNanos();
  if (begin_ns < next_check_ns_) return;
  CheckThreads();
  const uint64_t end_ns = MonotonicNanos();
  next_check_ns_ = end_ns + std::max(kCheckPeriodNs, kShareOfTime * (end_ns - begin_ns));
}

void NonJavaThreadSource::CheckThreads() {
  const std::vector<pid_t> ended = threads_.DrainEndedTids();
  const std::set<pid_t> has_ended(ended.begin(), ended.end());
  std::map<pid_t, SeenThread> now;
  for (const pid_t tid : ListThreads()) {
    if (is_agent_thread_(tid)) continue;
    const auto before = states_.find(tid);
    const bool is_new = before == states_.end();
    SeenThread& state = now[tid] = is_new ? SeenThread() : before->second;
    state.was_java |= has_ended.contains(tid);
    CheckThread(tid, is_new, state);
  }
  for (const auto& [tid, state] : states_) {
    if (!now.contains(tid)) sampler_.DetachIfEnded(tid);
  }
  states_ = std::move(now);
}

void NonJavaThreadSource::CheckThread(pid_t tid, bool is_new, SeenThread& state) {
  if (threads_.HasJavaThread(tid)) {
    state.waiting = false;
    return;
  }
  if (state.refused || sampler_.IsAttached(tid)) return;
  if (state.number != 0) return Attach(tid, state);  // was a Java thread meanwhile
  if (!state.waiting) {
    state.waiting = true;
    state.since_ns = is_new && !state.was_java ? 0 : ThreadCpuNanos(tid);
    return;
  }
  const uint64_t cpu_ns = ThreadCpuNanos(tid);
  if (cpu_ns < state.since_ns) return;  // it has ended
  if (state.was_java && cpu_ns - state.since_ns < kMaxToEndNs) return;
  Attach(tid, state);
  if (!state.refused) late_ns_ += cpu_ns - state.since_ns;
}

// A small amount is not reported: every JVM starts some threads over time.
void NonJavaThreadSource::AddChanges(uint64_t, proto::Chunk&) {
  if (late_ns_ < kLateWorthReportingNs) return;
  losses_.Set("sample.late_threads", Severity::kInfo, late_ns_ / 1'000'000,
              "ms of CPU time of native threads before they were found, up to 0.2 s each",
              "threads that attach to the JVM (JNI AttachCurrentThread) are sampled from then on");
}

}  // namespace jtrace::samples
