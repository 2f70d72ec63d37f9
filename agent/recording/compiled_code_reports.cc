#include "agent/recording/compiled_code_reports.h"

#include <array>

#include "agent/jvm/jvmti_environment.h"

namespace jtrace {
namespace {

constexpr std::array kEvents = {JVMTI_EVENT_COMPILED_METHOD_LOAD,
                                JVMTI_EVENT_COMPILED_METHOD_UNLOAD};

}  // namespace

absl::Status CompiledCodeReports::Expect(const Options& options) {
  if (!options.WantsDebugInfo() && !options.WantsCodeRecords()) return absl::OkStatus();
  const absl::MutexLock lock(&mutex_);
  is_listening_ = true;
  return jvm::EnableEvents(env_, kEvents);
}

void CompiledCodeReports::Start(const Options& options, jvm::DebugInfoKeeper* keeper) {
  const bool wants_records = options.WantsCodeRecords();
  if (!wants_records && !options.WantsDebugInfo()) return;
  const absl::MutexLock lock(&mutex_);
  keeper_ = keeper;
  only_user_ = !wants_records && keeper->KeepDebugInfo() ? keeper : nullptr;
  is_listening_ = !IsOver();
  if (is_listening_) {
    jvm::EnableEvents(env_, kEvents).IgnoreError();
  } else {
    Disable();
  }
}

void CompiledCodeReports::ReportExisting() {
  {
    const absl::MutexLock lock(&mutex_);
    if (!is_listening_) return;
  }
  env_->GenerateEvents(JVMTI_EVENT_COMPILED_METHOD_LOAD);
}

bool CompiledCodeReports::IsOver() const {
  return only_user_ != nullptr && !only_user_->NeedsCompiledCode();
}

void CompiledCodeReports::AfterReport() {
  const absl::MutexLock lock(&mutex_);
  if (is_listening_ && IsOver()) Disable();
}

void CompiledCodeReports::Disable() {
  is_listening_ = false;
  jvm::DisableEvents(env_, kEvents).IgnoreError();
}

void CompiledCodeReports::Stop() {
  const absl::MutexLock lock(&mutex_);
  only_user_ = nullptr;
  Disable();
  if (keeper_ != nullptr && !always_keeps_) keeper_->StopKeepingDebugInfo();
}

void CompiledCodeReports::KeepAlways(jvm::DebugInfoKeeper& keeper) {
  const absl::MutexLock lock(&mutex_);
  always_keeps_ = keeper.KeepDebugInfo();
}

bool CompiledCodeReports::always_keeps() const {
  const absl::MutexLock lock(&mutex_);
  return always_keeps_;
}

}  // namespace jtrace
