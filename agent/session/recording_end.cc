// A recording while it runs, and the steps of its end.
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "agent/hot/own_work.h"
#include "agent/session/event_sets.h"
#include "agent/session/recording.h"
#include "agent/session/recording_summary.h"

namespace jtrace {

bool Recording::IsAdding() const { return parts_.classes != nullptr && parts_.classes->IsAdding(); }

void Recording::AddBatch(JNIEnv* jni) {
  parts_.classes->AddBatch(jni, [this](jclass klass) {
    if (parts_.samples != nullptr) parts_.samples->NotePrepared(klass);
  });
  if (parts_.classes->IsAdding()) return;
  parts_.complete = absl::Now();
  // Methods may have been compiled before their numbers were known.
  parts_.jvm.code_reports.ReportExisting();
}

// The trace ends before the probes are removed, which may take long: what it counts has one end.
absl::StatusOr<std::string> Recording::Stop(JNIEnv* jni) {
  parts_.jvm.hooks.End();
  StopSampler();
  commands_.NoteOpenActivations();
  parts_.calls->Rest();
  PlanRemoving(jni);
  const bool has_enough = parts_.samples != nullptr && parts_.samples->HasEnough();
  const auto reason = has_enough ? proto::SessionEnd::SAMPLES : proto::SessionEnd::STOPPED;
  if (absl::Status written = EndTrace(reason); !written.ok()) return written;
  return DescribeEnd(parts_, reason);
}

void Recording::EndWithJvm() {
  gate_.Close();
  parts_.jvm.hooks.End();
  DisableRecordedEvents(parts_.jvm);
  StopSampler();
  commands_.NoteOpenActivations();
  commands_.AskTrees([](metrics::TreeWindows& windows) { windows.StopWatching(); }).IgnoreError();
  EndTrace(proto::SessionEnd::VM_DEATH).IgnoreError();
}

void Recording::StopSampler() {
  sampling::Sampler* const sampler = parts_.jvm.sampler.load();
  if (sampler == nullptr || sampler->Stop().ok()) return;
  parts_.jvm.trace.losses.Add(
      "stop.handler_inside", Severity::kWarning, 1,
      "signal handlers that had not ended half a second after the stop: their samples are missing",
      "see which thread is stopped or waits for memory: the next recording waits for it");
}

void Recording::WaitForCallbacks() {
  if (gate_.WaitUntilEmpty(kGatePatience)) return;
  parts_.jvm.trace.losses.Add(
      "stop.callback_inside", Severity::kWarning, 1,
      "callbacks of the JVM that had not ended a second after the stop: what they see is missing",
      "stop when the machine is less busy");
}

void Recording::PlanRemoving(JNIEnv* jni) {
  gate_.Close();
  DisableRecordedEvents(parts_.jvm);
  if (parts_.classes == nullptr) return;
  WaitForCallbacks();
  parts_.resting != nullptr ? parts_.classes->DropPlan(jni) : parts_.classes->PlanRemoving(jni);
}

bool Recording::RemoveBatch(JNIEnv* jni) {
  return parts_.classes != nullptr && parts_.resting == nullptr && parts_.classes->RemoveBatch(jni);
}

std::string Recording::DescribeLeft() const {
  const std::string left = parts_.classes == nullptr ? "" : parts_.classes->DescribeLeft();
  return left.empty() ? "" : absl::StrCat("\nwarning: ", left);
}

void Recording::RemoveProbes(JNIEnv* jni) {
  gate_.Close();
  if (parts_.resting != nullptr) {
    WaitForCallbacks();
    parts_.classes->DropPlan(jni);
    parts_.resting->EndTrace();
  } else if (parts_.classes != nullptr) {
    parts_.classes->Remove(jni, [this] { WaitForCallbacks(); });
  }
  if (parts_.jvm.resting.load() == nullptr) DisableClassFileEvents(parts_.jvm.env);
}

absl::Status Recording::EndTrace(proto::SessionEnd::Reason reason) {
  ReportEmptyScope(parts_);
  if (parts_.samples != nullptr) parts_.samples->ReportUnmatchedThreads();
  ReportUnmatchedUnwinds(parts_);
  // Methods that were never called are listed too: --report=never.
  if (parts_.classes != nullptr) {
    parts_.jvm.trace.encoder.DefineRoutinesOf(parts_.classes->instrumentation().counted());
  }
  absl::Status written =
      parts_.drain->Stop([&](proto::SessionEnd& end) { FinishEnd(parts_, reason, end); });
  if (written.ok()) parts_.log->Line(DescribeEnd(parts_, reason));  // else Fail has reported why
  return written;
}

// The writer's thread may call this, which the JVM does not know: no JVMTI and no JNI. The control
// thread, which this wakes, does the rest.
void Recording::Fail(absl::string_view why) {
  gate_.Close();
  {
    absl::MutexLock lock(&failure_mutex_);
    failure_ = std::string(why);
  }
  // TurnOff has said so.
  if (!hot::agent_is_off.load()) {
    LogToStderr(absl::StrCat("recording stopped, the program runs on: ", why));
  }
  if (parts_.calls != nullptr) parts_.calls->EndWaits();
  parts_.jvm.hooks.End();
  StopSampler();
  failed_.store(true);
  wake_();
}

std::string Recording::failure() const {
  absl::MutexLock lock(&failure_mutex_);
  return failure_;
}

void Recording::CleanUp(JNIEnv* jni) {
  parts_.jvm.hooks.End();
  RemoveProbes(jni);
  DisableRecordedEvents(parts_.jvm);
  StopSampler();
  if (parts_.calls != nullptr) parts_.calls->Idle();
  parts_.jvm.registries.redefined.EndRecording();
  parts_.drain.reset();
  if (parts_.calls != nullptr) parts_.calls->EndWaits();  // if no writer began
  parts_.jvm.written.store(nullptr);
  parts_.jvm.trace.encoder.EndTrace();
  parts_.jvm.is_live.store(true);
  parts_.jvm.metrics->End();
}

void Recording::Forget(const absl::flat_hash_set<uint32_t>& classes) {
  if (parts_.classes != nullptr) parts_.classes->instrumentation().Forget(classes);
}

bool Recording::IsBehind() const {
  return parts_.calls->source() != nullptr && parts_.calls->source()->IsBehind();
}

}  // namespace jtrace
