#include "agent/recording/call_counting.h"

#include <string>
#include <utility>
#include <vector>

#include "agent/calls/log_source.h"
#include "agent/calls/native_methods.h"
#include "agent/recording/jvm_parts.h"
#include "agent/recording/recording_settings.h"
#include "agent/samples/unwind_sites.h"

namespace jtrace {
namespace {

// A thread that clock=cpu cannot measure correctly.
void ReportVirtualThread(Losses& losses) {
  losses.Add(
      "clock.virtual_threads", Severity::kWarning, 1,
      "virtual threads with clock=cpu, whose waiting is in their base and total: they have no "
      "separate processor time",
      "take processor time of virtual threads from samples: mode=merged");
}

}  // namespace

absl::Status CallCounting::Start(JNIEnv* jni, Options& options,
                                 calls::Instrumentation& instrumentation) {
  if (!path_metrics_.empty() && !jvm_.metrics->CanCharge(jni, jvm_.trace.losses)) {
    path_metrics_ = calls::PathMetrics();
  }
  ChooseTreeMemory(jvm_, jni, options);
  calls::ProbeOptions wanted = ProbeOptionsOf(options);
  wanted.metrics = path_metrics_;
  auto set = jvm_.probe_sets.Use(jvm_.env, jni, wanted);
  if (!set.ok()) return set.status();
  probes_ = (*set)->probes.get();
  trees_ = (*set)->trees.get();
  counts_ = (*set)->counts.get();
  logs_ = (*set)->logs.get();
  ReportClock(options);
  const auto routines = static_cast<uint32_t>(jvm_.trace.encoder.routines() + 1);
  probes_->ClearCompiled(routines);
  // Of resting probes it is known, and classes may be rewritten now.
  if (!options.probes_rest) instrumentation.UseProbeClass(probes_->class_name());
  if ((*set)->blocks != nullptr) {
    instrumentation.CountBlocks(
        probes_->block_class_name(),
        std::make_unique<calls::CountedBlocks>(*(*set)->blocks, probes_->arena(), trees_,
                                               jvm_.trace.encoder, jvm_.trace.losses));
  }
  if (options.sites) instrumentation.DistinguishPlaces(&jvm_.places);
  samples::unwind_sites.Clear();
  if (!options.unwinds.empty()) {
    absl::Status status = calls::DefineUnwindProbe(jni, &samples::UnwindAtEntry);
    if (!status.ok()) return status;
  }
  if (options.log_waits) {
    absl::Status status = calls::DefineLogWait(jni);
    if (!status.ok()) return status;
  }
  source_ = BeginCounting(options, routines);
  return EnableClassFileEvents(jvm_.env);
}

std::unique_ptr<trace::ChunkSource> CallCounting::BeginCounting(const Options& options,
                                                                uint32_t routines) {
  TraceParts& trace = jvm_.trace;
  const calls::CallKinds kinds(
      options.codes.Has(Code::kInterpreted), options.codes.Has(Code::kJitted),
      [&trace](uint32_t routine) { return trace.encoder.IsMethod(routine); });
  records_all_ = kinds.all();
  jvm::ThreadRegistry& threads = jvm_.registries.threads;
  jvm::ThreadGroups& groups = jvm_.registries.groups;
  if (counts_ != nullptr) {
    counts_->BeginRecording(routines);
    return std::make_unique<calls::FlatSource>(*counts_, threads, groups, trace.encoder, kinds);
  }
  const bool splits_time = probes_->clock() == signal_safe::ProbeClock::kCpu;
  const bool has_logs = logs_ != nullptr;
  // The trees outlive this.
  trees_->GroupBy([&jvm = jvm_, splits_time, has_logs](uint64_t java_tid, bool is_virtual) {
    if (is_virtual && splits_time) ReportVirtualThread(jvm.trace.losses);
    // Each thread has its own log, so also its own tree for the calls that the log leaves out.
    return has_logs ? 0 : jvm.registries.groups.Assign(java_tid, is_virtual);
  });
  trees_->BeginRecording();
  calls::TickScale* scale = options.clock != Clock::kNone ? &probes_->scale() : nullptr;
  trees_->ReadOpenMetricsBy(
      [&jvm = jvm_](const calls::PathMetrics& metrics, const signal_safe::ThreadState& state) {
        return jvm.metrics->SinceCharged(metrics, state);
      });
  std::vector<std::string> names;
  for (const uint8_t number : path_metrics_.numbers) {
    names.push_back(jvm_.metrics->NameOf(number));
  }
  calls::TreeSource source(*trees_, scale, threads, groups, trace.encoder, trace.losses,
                           std::move(names), kinds, CallPlaces(options));
  if (!has_logs) {
    windows_ = std::make_unique<metrics::TreeWindows>(*trees_, jvm_.families);
    return std::make_unique<calls::TreeSource>(std::move(source));
  }
  logs_->BeginRecording(/*follow=*/options.loop.on(), kinds);
  return std::make_unique<calls::LogSource>(
      trace.clock, *logs_, std::move(source), threads, trace.encoder, trace.losses,
      calls::LogSource::Settings{options.log_budget, options.log_waits,
                                 options.codes.Has(Code::kThreadSwitch), switches_});
}

calls::CallPlaceOf CallCounting::CallPlaces(const Options& options) const {
  if (!options.sites) return nullptr;
  return [&table = jvm_.places](uint32_t caller, uint32_t number, uint32_t callee) {
    return table.Place(caller, number, callee);
  };
}

void CallCounting::ReportClock(const Options& options) {
  const signal_safe::ProbeClock wanted = ProbeClockOf(options.clock);
  if (probes_->clock() == wanted) return;
  const bool wants_cpu = wanted == signal_safe::ProbeClock::kCpu;
  jvm_.trace.losses.Add(
      wants_cpu ? "clock.no_cpu" : "clock.no_tsc", Severity::kWarning, 1,
      wants_cpu ? "clock=cpu: this kernel or C library does not report when a thread was off "
                  "its processor; times include waiting"
                : "clock=tsc: the time-stamp counter cannot be used here; times are exact, "
                  "but reading System.nanoTime takes longer");
}

void CallCounting::Open() {
  if (probes_ != nullptr) probes_->Open();
}

void CallCounting::Rest() {
  if (probes_ != nullptr) probes_->Rest();
}

void CallCounting::Idle() {
  if (probes_ != nullptr) probes_->Idle();
}

void CallCounting::LetThreadsWait() {
  if (logs_ != nullptr) logs_->LetThreadsWait();
}

void CallCounting::EndWaits() {
  if (logs_ != nullptr) logs_->EndWaits();
}

void CallCounting::SetCompiled(jmethodID method) {
  if (probes_ == nullptr) return;
  const uint32_t routine = jvm_.registries.classes.RoutineOf(jvm::KeyOf(method));
  if (routine != 0) probes_->SetCompiled(routine, true);
}

// While a leaf runs, its thread's current node is the leaf's caller.
uint32_t CallCounting::TreePosition(uint64_t raw_node, jvm::MethodKey innermost,
                                    const calls::Instrumentation& instrumentation) const {
  const uint32_t routine = innermost != 0 ? jvm_.registries.classes.RoutineOf(innermost) : 0;
  const bool is_leaf = routine != 0 && instrumentation.IsLeaf(routine);
  const uint32_t leaf = is_leaf ? trees_->TraceChild(raw_node, routine) : 0;
  return leaf != 0 ? leaf : trees_->TraceNode(raw_node);
}

uint64_t CallCounting::calls() const {
  if (trees_ != nullptr) return trees_->total_calls() + (logs_ != nullptr ? logs_->calls() : 0);
  return counts_ != nullptr ? counts_->total_calls() : 0;
}

uint64_t CallCounting::file_calls() const {
  if (trees_ != nullptr) return trees_->file_calls();
  return counts_ != nullptr ? counts_->file_calls() : 0;
}

uint64_t CallCounting::memory_bytes() const {
  return trees_ != nullptr ? trees_->tree_bytes() : probes_->memory_used();
}

}  // namespace jtrace
