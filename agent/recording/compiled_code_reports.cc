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

void CompiledCodeReports::Start(const Options& options, jvm::CompiledMethodConsumer* reader) {
  const bool wants_records = options.WantsCodeRecords();
  if (!wants_records && !options.WantsDebugInfo()) return;
  const absl::MutexLock lock(&mutex_);
  reader_ = reader;
  until_checked_ = !wants_records && reader->KeepDebugInfo() ? reader : nullptr;
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
  return until_checked_ != nullptr && !until_checked_->NeedsCompiledCode();
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
  until_checked_ = nullptr;
  Disable();
  if (reader_ != nullptr && !always_keeps_) reader_->StopKeepingDebugInfo();
}

void CompiledCodeReports::KeepAlways(jvm::CompiledMethodConsumer& reader) {
  const absl::MutexLock lock(&mutex_);
  always_keeps_ = reader.KeepDebugInfo();
}

bool CompiledCodeReports::always_keeps() const {
  const absl::MutexLock lock(&mutex_);
  return always_keeps_;
}

}  // namespace jtrace
