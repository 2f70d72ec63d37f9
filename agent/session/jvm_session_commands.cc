// The session's commands; most of them concern the running recording.
#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "agent/native_hooks/hook_spec.h"
#include "agent/session/jvm_session.h"
#include "agent/session/resting_probes.h"
#include "agent/session/session_control.h"
#include "common/counted.h"
#include "proto/control_protocol.h"
#include "proto/trace_format.h"

namespace jtrace {
namespace {

absl::Status NotRecording() {
  return absl::FailedPreconditionError("no recording runs; begin one with start");
}

}  // namespace

absl::StatusOr<std::string> JvmSession::Flush() {
  absl::MutexLock lock(&lifecycle_);
  Recording* const recording = Running();
  return recording != nullptr ? recording->commands().Flush() : NotRecording();
}

absl::StatusOr<std::string> JvmSession::NextFile() {
  absl::MutexLock lock(&lifecycle_);
  Recording* const recording = Running();
  return recording != nullptr ? recording->commands().NextFile() : NotRecording();
}

absl::StatusOr<std::string> JvmSession::Dump() {
  absl::MutexLock lock(&lifecycle_);
  Recording* const recording = Running();
  if (recording == nullptr) return NotRecording();
  return recording->options().loop.on() ? recording->commands().NextFile()
                                        : recording->commands().Flush();
}

absl::Status JvmSession::Mark(absl::string_view text) {
  absl::MutexLock lock(&lifecycle_);
  if (Running() == nullptr) return NotRecording();
  jvm_.trace.encoder.AddEvent({.time_ns = jvm_.trace.clock.Now(),
                               .major = format::kSession,
                               .minor = format::kSessionMark,
                               .text = text});
  return absl::OkStatus();
}

absl::Status JvmSession::AskTrees(const std::function<void(metrics::TreeWindows&)>& ask) {
  absl::MutexLock lock(&lifecycle_);
  Recording* const recording = Running();
  return recording != nullptr ? recording->commands().AskTrees(ask) : NotRecording();
}

std::vector<uint8_t> JvmSession::PathMetricNumbers() {
  absl::MutexLock lock(&lifecycle_);
  Recording* const recording = Running();
  if (recording == nullptr) return {};
  const auto& numbers = recording->calls().path_metrics().numbers;
  return {numbers.begin(), numbers.end()};
}

absl::StatusOr<std::string> JvmSession::Hook(absl::string_view specs) {
  std::vector<native_hooks::HookSpec> wanted;  // none: to list them
  if (!absl::StripAsciiWhitespace(specs).empty()) {
    auto parsed = native_hooks::ParseHookSpecs(specs);
    if (!parsed.ok()) return parsed.status();
    wanted = *std::move(parsed);
  }
  for (const native_hooks::HookSpec& spec : wanted) {
    if (!spec.IsMethod()) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("'", spec.symbol,
                     "' is a Java method: it has a probe from the start of a recording, no "
                     "int3; begin one with hook=",
                     native_hooks::HookSpecText(spec)));
  }
  {
    absl::MutexLock lock(&lifecycle_);
    Recording* const recording = Running();
    if (recording == nullptr) return NotRecording();
    if (recording->samples() == nullptr) {
      return absl::FailedPreconditionError(
          "this recording takes no samples, and hooks need the threads that these know; begin one "
          "with mode=merged");
    }
    if (!recording->options().codes.Has(Code::kNativeHook)) {
      return absl::FailedPreconditionError(
          "codes= of this recording leaves hooks (0x33) out; begin one without");
    }
    const bool adds = std::ranges::any_of(wanted, [](const native_hooks::HookSpec& spec) {
      return spec.kind != native_hooks::HookKind::kOff;
    });
    if (adds) recording->commands().RecordCode();
  }
  // Reading libraries' symbols may take seconds: a stop does not wait for it, and removes the
  // hooks.
  return wanted.empty() ? jvm_.hooks.Describe() : jvm_.hooks.Apply(wanted);
}

absl::StatusOr<std::string> JvmSession::RunCommand(absl::string_view verb,
                                                   absl::string_view argument) {
  control::SessionControl* control = control_.load();
  if (control == nullptr) return absl::UnavailableError("the JVM is not initialized yet");
  std::string answer;
  const absl::Status status = control->Run(verb, argument, [&](char kind, absl::string_view line) {
    if (kind == control::kAnswerLine) absl::StrAppend(&answer, line, "\n");
  });
  if (!status.ok()) return status;
  return answer;
}

std::string JvmSession::DescribeIdle() {
  if (removal_ != Removal::kNone && recording_->classes() != nullptr) {
    return absl::StrCat("state     ended: ",
                        DescribeProgress(recording_->classes()->batches().progress(), "out of"));
  }
  if (recording_ != nullptr && !is_prepared_) {
    return absl::StrCat("state     failed: ", recording_->failure(),
                        "; its probes are being taken out");
  }
  std::string text = files_begun_ == 0 ? "state     idle: nothing was recorded yet"
                                       : absl::StrCat("state     idle; the last options were ",
                                                      DescribeOptions(last_options_));
  if (!last_failure_.empty()) absl::StrAppend(&text, "\nfailed    ", last_failure_);
  absl::StrAppend(&text, unheard_left_.value_or(""));
  if (const RestingProbes* const resting = jvm_.resting.load(); resting != nullptr) {
    absl::StrAppend(&text, "\nprobes    rest in ", WithNoun(resting->classes(), "class", "classes"),
                    " (", DescribeOptions(resting->options()), ")");
  }
  return text;
}

absl::StatusOr<std::string> JvmSession::DescribeStatus() {
  absl::MutexLock lock(&lifecycle_);
  Recording* const recording = Running();
  if (recording == nullptr) return DescribeIdle();
  if (absl::Status status = recording->commands().Flush().status(); !status.ok()) return status;
  return recording->commands().DescribeStatus();
}

bool JvmSession::LooksAtStacks() {
  absl::MutexLock lock(&lifecycle_);
  Recording* const recording = Running();
  return recording != nullptr && recording->commands().CountsBlocks();
}

Due JvmSession::WhatIsDue(absl::Time now) {
  absl::MutexLock lock(&lifecycle_);
  Recording* const recording = Running();
  if (recording != nullptr) return recording->commands().WhatIsDue(now);
  return {.what = NeedsCleanUp() ? Due::kCleanUp : Due::kNothing};
}

bool JvmSession::NeedsCleanUp() {
  if (recording_ == nullptr || removal_ == Removal::kUnderWay) return false;
  return removal_ == Removal::kPaused || recording_->has_failed();
}

void JvmSession::Settle(JNIEnv* jni, Due::What what, const Caller& caller) {
  if (what == Due::kStop) Stop(jni, caller).status().IgnoreError();
  if (what == Due::kAddProbes) AddProbesToLateClasses(jni);
  if (what == Due::kCleanUp) CleanUp(jni, caller);
}

void JvmSession::AddProbesToLateClasses(JNIEnv* jni) {
  absl::MutexLock lock(&lifecycle_);
  Recording* const recording = Running();
  if (recording == nullptr || recording->classes() == nullptr) return;
  jvmti::LocalFrame frame(jni);
  recording->classes()->AddToPrepared(jni);
}

}  // namespace jtrace
