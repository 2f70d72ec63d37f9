#include "agent/recording/calls_part.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "agent/calls/logs/log_source.h"
#include "agent/calls/probe_natives.h"
#include "agent/calls/trees/flat_source.h"
#include "agent/jvm/running_stacks.h"
#include "agent/recording/jvmti_events.h"
#include "agent/recording/probe_settings.h"
#include "agent/samples/instrumented_unwinds.h"
#include "common/counted.h"

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

// The likeliest mistake with include=: a package without its star.
void ReportEmptyScope(const Options& options, Losses& losses) {
  if (options.include.empty()) return;
  losses.Set("include.no_class", Severity::kWarning, 1,
             absl::StrCat("scope without a class: nothing that was loaded matches include=",
                          absl::StrJoin(options.include, ";")),
             "for a package and all below it write include=com.acme.**");
}

void ReportUnmatched(calls::Instrumentation& instrumentation, Losses& losses) {
  if (const auto hooked = instrumentation.method_hooks().Unmatched(); !hooked.empty()) {
    losses.Set("hook.no_method", Severity::kWarning, hooked.size(),
               absl::StrCat("names in hook= that no loaded method with code matches: ",
                            absl::StrJoin(hooked, ";")),
               "write com.acme.Cache::load for a Java method, libc.so.6!malloc for a native "
               "function");
  }
  if (const auto patterns = instrumentation.UnmatchedUnwinds(); !patterns.empty()) {
    losses.Set("unwind.no_method", Severity::kWarning, patterns.size(),
               absl::StrCat("names in unwind= that no loaded method with code matches: ",
                            absl::StrJoin(patterns, ";")),
               "write them as com.acme.Cache::load or com.acme.Outer$Inner::load");
  }
}

}  // namespace

absl::Status CallsPart::Prepare() {
  RestingProbes* const resting = probe_state_.resting.load();
  if (options_.probes_rest) {
    classes_ = resting->ShareClasses(options_);
    resting_ = resting;
    return absl::OkStatus();
  }
  auto classes = ProbedClasses::Create(jvm_, probe_state_, options_);
  if (!classes.ok()) return classes.status();
  classes_ = *std::move(classes);
  if (resting != nullptr) classes_->SetRestingMismatch(resting->WhyNot(options_));
  return absl::OkStatus();
}

absl::Status CallsPart::Start(JNIEnv* jni) {
  calls::ProbeOptions wanted = ProbeOptionsOf(options_);
  wanted.metrics = metrics_.path_metrics();
  auto set = probe_state_.sets.FindOrDefine(jvm_.env, jni, wanted);
  if (!set.ok()) return set.status();
  probes_ = (*set)->probes.get();
  trees_ = (*set)->trees.get();
  counts_ = (*set)->counts.get();
  logs_ = (*set)->logs.get();
  ReportClock();
  const auto routines = static_cast<uint32_t>(jvm_.trace.encoder.routines() + 1);
  probes_->ClearCompiled(routines);
  // Resting probes have their class already, and other threads may be rewriting classes with it.
  if (!options_.probes_rest) instrumentation().SetProbeClass(probes_->class_name());
  if ((*set)->blocks != nullptr) {
    instrumentation().EnableBlocks(
        probes_->block_class_name(),
        std::make_unique<calls::BlockCountSource>(*(*set)->blocks, probes_->arena(), trees_,
                                                  jvm_.trace.encoder, jvm_.trace.losses));
  }
  if (options_.sites) instrumentation().EnableCallSites(&probe_state_.call_sites);
  samples::instrumented_unwinds.Clear();
  if (absl::Status status = DefineCallees(jni); !status.ok()) return status;
  source_ = BeginCounting(routines);
  return EnableClassFileEvents(jvm_.env);
}

absl::Status CallsPart::DefineCallees(JNIEnv* jni) {
  if (options_.WantsUnwinds()) {
    absl::Status status = calls::DefineUnwindProbe(jni, &samples::UnwindAtEntry);
    if (!status.ok()) return status;
  }
  return options_.log_waits ? calls::DefineLogWait(jni) : absl::OkStatus();
}

std::unique_ptr<trace::ChunkSource> CallsPart::BeginCounting(uint32_t routines) {
  TraceState& trace = jvm_.trace;
  const calls::CallKinds kinds(
      options_.codes.Has(Code::kInterpreted), options_.codes.Has(Code::kJitted),
      [&trace](uint32_t routine) { return trace.encoder.IsMethod(routine); });
  records_all_ = kinds.all();
  jvm::ThreadRegistry& threads = jvm_.registries.threads;
  if (counts_ != nullptr) {
    counts_->BeginRecording(routines);
    return std::make_unique<calls::FlatSource>(*counts_, threads, jvm_.registries.groups,
                                               trace.encoder, kinds);
  }
  calls::TreeSource source = BeginTrees(kinds);
  if (logs_ == nullptr) {
    windows_ = std::make_unique<metrics::TreeWindows>(*trees_, descendants_);
    return std::make_unique<calls::TreeSource>(std::move(source));
  }
  logs_->BeginRecording(/*follow=*/options_.loop.on(), kinds);
  return std::make_unique<calls::LogSource>(
      trace.clock, *logs_, std::move(source), threads, trace.encoder, trace.losses,
      calls::LogSource::Settings{options_.log_budget, options_.log_waits,
                                 options_.codes.Has(Code::kThreadSwitch), switches_});
}

calls::TreeSource CallsPart::BeginTrees(const calls::CallKinds& kinds) {
  const bool splits_time = probes_->clock() == signal_safe::ProbeClock::kCpu;
  const bool has_logs = logs_ != nullptr;
  // The trees outlive this part, so the function must not capture it.
  trees_->GroupBy([&jvm = jvm_, splits_time, has_logs](uint64_t java_tid, bool is_virtual) {
    if (is_virtual && splits_time) ReportVirtualThread(jvm.trace.losses);
    // Each thread has its own log, so also its own tree for the calls that the log leaves out.
    return has_logs ? 0 : jvm.registries.groups.Assign(java_tid, is_virtual);
  });
  trees_->BeginRecording();
  calls::ClockScale* scale = options_.clock != Clock::kNone ? &probes_->scale() : nullptr;
  trees_->SetOpenMetricsReader(
      [&counted = metrics_.metrics()](const calls::PathMetrics& metrics,
                                      const signal_safe::ThreadState& state) {
        return counted.SinceCharged(metrics, state);
      });
  std::vector<std::string> names;
  for (const uint8_t number : metrics_.path_metrics().numbers) {
    names.push_back(metrics_.metrics().NameOf(number));
  }
  return calls::TreeSource(
      *trees_, jvm_.registries.threads, jvm_.registries.groups, jvm_.trace.encoder,
      jvm_.trace.losses,
      {.scale = scale, .metrics = std::move(names), .kinds = kinds, .find_call_site = CallSites()});
}

calls::FindCallSite CallsPart::CallSites() const {
  if (!options_.sites) return nullptr;
  return [&table = probe_state_.call_sites](uint32_t caller, uint32_t number, uint32_t callee) {
    return table.CallSiteOf(caller, number, callee);
  };
}

void CallsPart::ReportClock() {
  const signal_safe::ProbeClock wanted = ProbeClockOf(options_.clock);
  if (probes_->clock() == wanted) return;
  const bool wants_cpu = wanted == signal_safe::ProbeClock::kCpu;
  jvm_.trace.losses.Add(
      wants_cpu ? "clock.no_cpu" : "clock.no_tsc", Severity::kWarning, 1,
      wants_cpu ? "clock=cpu: this kernel or C library does not report when a thread was off "
                  "its processor; times include waiting"
                : "clock=tsc: the time-stamp counter cannot be used here; times are exact, "
                  "but reading System.nanoTime takes longer");
}

void CallsPart::ReportStart() {
  if (resting_ != nullptr) resting_->BeginTrace();
}

void CallsPart::AddExisting(JNIEnv* jni) {
  jvm_.program_runs.load() ? classes_->PlanAdding(jni) : classes_->AddToLoaded(jni);
  jvm_.registries.classes.RecordLoaded(jni);
}

void CallsPart::Run() {
  probes_->EnableCounting();
  if (trees_ != nullptr) {
    live_objects_ = metrics_.LiveObjects([this] { return trees_->NewNumber(); }, CallSites());
  }
  // This comes before the writer's first write, which may fail and then ends all waits.
  if (options_.log_waits && logs_ != nullptr) logs_->LetThreadsWait();
}

std::vector<trace::ChunkSource*> CallsPart::sources() {
  std::vector<trace::ChunkSource*> sources = {source_.get()};
  if (live_objects_ != nullptr) sources.push_back(live_objects_.get());
  sources.push_back(&instrumentation().statistics());
  sources.push_back(&instrumentation().method_hooks());
  if (blocks() != nullptr) sources.push_back(blocks());
  return sources;
}

void CallsPart::ClassPrepared(jclass klass) {
  if (classes_->ReportLateClass(klass)) wake_();
}

void CallsPart::MethodCompiled(jmethodID method) {
  const uint32_t routine = jvm_.registries.classes.RoutineOf(jvm::KeyOf(method));
  if (routine != 0) probes_->SetCompiled(routine, true);
}

// Reports to the counts of blocks in which block each open activation is.
void CallsPart::CompleteCounts() {
  if (blocks() == nullptr) return;
  JNIEnv* jni = nullptr;
  if (jvm_.vm->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_10) != JNI_OK) return;
  blocks()->SetOpen(jvm::FindOpenActivations(jvm_.env, jni, jvm_.registries.classes,
                                             jvm_.registries.threads, instrumentation().counted()));
}

// Resting probes stop counting before the last chunk is written; others count until removed.
void CallsPart::StopListening() {
  if (is_started()) probes_->DisableCounting();
}

void CallsPart::PlanRemoving(JNIEnv* jni) {
  wait_for_callbacks_();
  resting_ != nullptr ? classes_->DropPlan(jni) : classes_->PlanRemoving(jni);
}

void CallsPart::ReportEnd() {
  if (instrumentation().methods_probed() == 0) ReportEmptyScope(options_, jvm_.trace.losses);
  ReportUnmatched(instrumentation(), jvm_.trace.losses);
  // Methods that were never called are listed too: --report=never.
  jvm_.trace.encoder.DefineRoutinesOf(instrumentation().counted());
}

void CallsPart::ReleaseWaitingThreads() {
  if (logs_ != nullptr) logs_->EndWaits();
}

void CallsPart::CleanUp(JNIEnv* jni) {
  if (classes_ == nullptr) return;
  if (resting_ != nullptr) {
    wait_for_callbacks_();
    classes_->DropPlan(jni);
    resting_->EndTrace();
  } else {
    classes_->Remove(jni, wait_for_callbacks_);
  }
  if (probe_state_.resting.load() == nullptr) DisableClassFileEvents(jvm_.env);
  if (is_started()) probes_->End();
}

void CallsPart::AddToEnd(proto::SessionEnd& end) const {
  end.set_methods_probed(instrumentation().methods_probed());
  end.set_classes_rewritten(instrumentation().classes_rewritten());
  end.set_agent_memory_bytes(trees_ != nullptr ? trees_->tree_bytes() : probes_->memory_used());
  if (records_all_) end.set_calls(file_calls());
}

std::string CallsPart::Summary() const {
  return absl::StrCat(WithNoun(calls(), "call"),
                      records_all_ ? "" : " (those of one kind not recorded)", ", ");
}

std::string CallsPart::Status() const {
  std::string text =
      absl::StrCat("\ncalls     ", calls(), " by ",
                   WithNoun(instrumentation().methods_probed(), "method"), " with probes");
  if (IsAdding()) {
    absl::StrAppend(&text, "\nprobes    ", DescribeProgress(classes_->batches().progress(), "in"));
  }
  return text;
}

// While a leaf runs, its thread's current node is that of the leaf's caller.
uint32_t CallsPart::TreePosition(uint64_t raw_node, jvm::MethodKey innermost) const {
  const uint32_t routine = innermost != 0 ? jvm_.registries.classes.RoutineOf(innermost) : 0;
  const bool is_leaf = routine != 0 && instrumentation().IsLeaf(routine);
  const uint32_t leaf = is_leaf ? trees_->NumberOfChild(raw_node, routine) : 0;
  return leaf != 0 ? leaf : trees_->NumberOf(raw_node);
}

uint64_t CallsPart::calls() const {
  if (trees_ != nullptr) return trees_->total_calls() + (logs_ != nullptr ? logs_->calls() : 0);
  return counts_ != nullptr ? counts_->total_calls() : 0;
}

uint64_t CallsPart::file_calls() const {
  if (trees_ != nullptr) return trees_->file_calls();
  return counts_ != nullptr ? counts_->file_calls() : 0;
}

}  // namespace jtrace
