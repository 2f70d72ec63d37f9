// What probes need in a recording: the instrumentation, the set of probes, where their counts go.
#include <utility>

#include "agent/base/machine_memory.h"
#include "agent/jvmti/max_heap.h"
#include "agent/probes/native_unwind.h"
#include "agent/sampling/unwind_sites.h"
#include "agent/session/recording_settings.h"
#include "agent/session/session.h"
#include "proto/trace_format.h"

namespace jtrace {

absl::Status Session::PrepareMetrics() {
  auto numbers = metrics_->Numbers(options_.metrics);
  if (!numbers.ok()) return numbers.status();
  metric_numbers_ = *std::move(numbers);
  metrics_->Prepare(metric_numbers_);
  // Call paths are those of call trees.
  const bool has_paths = options_.WantsEvents() && options_.record == RecordKind::kTree;
  path_metrics_ = has_paths ? metrics_->PathMetricsOf(metric_numbers_) : PathMetrics();
  return absl::OkStatus();
}

absl::Status Session::CreateInstrumentation() {
  if (!options_.WantsEvents()) return absl::OkStatus();
  auto instrumentation = Instrumentation::Create(options_, loaders_, encoder_, losses_, unprobed_);
  if (!instrumentation.ok()) return instrumentation.status();
  // A class-file hook that hangs since the last recording keeps what it uses.
  WaitForClassHooks();
  if (!class_hooks_.Idle()) (void)instrumentation_.release();
  instrumentation_ = *std::move(instrumentation);
  return absl::OkStatus();
}

namespace {

// A thread that clock=cpu cannot do justice to.
void TellVirtualThread(Losses& losses) {
  losses.Add(
      "clock.virtual_threads", Severity::kWarning, 1,
      "virtual threads with clock=cpu, whose waiting is in their base and total: they have no "
      "processor time of their own",
      "take processor time of virtual threads from samples: mode=merged");
}

}  // namespace

// Once for all recordings: probes with another limit are other probes.
uint64_t Session::MemoryByDefault(JNIEnv* jni) {
  if (default_memory_ == 0) {
    default_memory_ = DefaultTreeMemory(AvailableMemory(), jvmti::MaxHeap(jni));
  }
  return default_memory_;
}

absl::Status Session::StartProbes(JNIEnv* jni) {
  if (!options_.WantsEvents()) return absl::OkStatus();
  if (!path_metrics_.empty() && !metrics_->CanCharge(jni, losses_)) path_metrics_ = PathMetrics();
  if (options_.memory_bytes == 0) options_.memory_bytes = MemoryByDefault(jni);
  ProbeOptions wanted = ProbeOptionsOf(options_);
  wanted.metrics = path_metrics_;
  auto set = probe_sets_.Use(env_, jni, wanted);
  if (!set.ok()) return set.status();
  probes_ = (*set)->probes.get();
  trees_ = (*set)->trees.get();
  counts_ = (*set)->counts.get();
  logs_ = (*set)->logs.get();
  TellClock();
  const auto routines = static_cast<uint32_t>(encoder_.routines() + 1);
  probes_->ClearCompiled(routines);
  instrumentation_->UseProbeClass(probes_->class_name());
  sampling::unwind_sites.Clear();
  if (!options_.unwinds.empty()) {
    absl::Status status = DefineUnwindProbe(jni, &sampling::UnwindAtEntry);
    if (!status.ok()) return status;
  }
  call_source_ = BeginCounting(routines);
  return EnableClassFileEvents();
}

std::unique_ptr<writer::ChunkSource> Session::BeginCounting(uint32_t routines) {
  if (counts_ != nullptr) {
    counts_->BeginRecording(routines);
    return std::make_unique<writer::FlatSource>(*counts_, threads_, groups_, encoder_);
  }
  const bool splits_time = probes_->clock() == hot::ProbeClock::kCpu;
  trees_->GroupBy([this, splits_time](uint64_t java_tid, bool is_virtual) {
    if (is_virtual && splits_time) TellVirtualThread(losses_);
    // A log is a thread's own, and so is the tree that counts what the log leaves out.
    return logs_ == nullptr ? groups_.Assign(java_tid, is_virtual) : 0;
  });
  trees_->BeginRecording();
  TickScale* scale = options_.clock != Clock::kNone ? &probes_->scale() : nullptr;
  trees_->ReadOpenMetricsBy([this](const PathMetrics& metrics, const hot::ThreadState& state) {
    return metrics_->SinceCharged(metrics, state);
  });
  std::vector<std::string> names;
  for (const uint8_t number : path_metrics_.numbers) {
    names.push_back(metrics_->counters().NameOf(number));
  }
  writer::TreeSource source(*trees_, scale, threads_, groups_, encoder_, losses_, std::move(names));
  if (logs_ == nullptr) {
    windows_ = std::make_unique<metrics::TreeWindows>(*trees_, families_);
    return std::make_unique<writer::TreeSource>(std::move(source));
  }
  logs_->BeginRecording(/*follow=*/options_.loop.on());
  return std::make_unique<writer::LogSource>(
      clock_, *logs_, std::move(source), threads_, encoder_, losses_,
      writer::LogSource::Settings{options_.log_budget,
                                  !options_.codes_off.contains(format::kThreadSwitch)});
}

// What stands in for a clock that cannot be had.
void Session::TellClock() {
  const hot::ProbeClock wanted = ProbeClockOf(options_.clock);
  if (probes_->clock() == wanted) return;
  const bool wants_cpu = wanted == hot::ProbeClock::kCpu;
  losses_.Add(wants_cpu ? "clock.no_cpu" : "clock.no_tsc", Severity::kWarning, 1,
              wants_cpu ? "clock=cpu: this kernel or C library does not tell when a thread was off "
                          "its processor; times include waiting"
                        : "clock=tsc: the time-stamp counter cannot be used here; times are exact, "
                          "but reading System.nanoTime takes longer");
}

}  // namespace jtrace
