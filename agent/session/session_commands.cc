// What can be asked of a recording while it runs.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "agent/session/session.h"
#include "agent/session/session_control.h"
#include "proto/control_protocol.h"
#include "proto/trace_format.h"

namespace jtrace {
namespace {

absl::Status NotRecording() {
  return absl::FailedPreconditionError("no recording runs; begin one with start");
}

constexpr absl::Duration kSizeCheckPeriod = absl::Seconds(1);

}  // namespace

absl::StatusOr<std::string> Session::Flush() {
  absl::MutexLock lock(&lifecycle_);
  if (!recording_.load()) return NotRecording();
  if (absl::Status status = drain_->Flush(); !status.ok()) return status;
  return writer::AbsolutePath(file_->path());
}

absl::StatusOr<std::string> Session::NextFile() {
  absl::MutexLock lock(&lifecycle_);
  if (!recording_.load()) return NotRecording();
  auto next = OpenFile();
  if (const absl::Status status = next.ok() ? BeginFile(**next) : next.status(); !status.ok()) {
    losses_.Add("loop.no_file", Severity::kWarning, 1,
                absl::StrCat("the next file could not be begun, the recording goes on in the old "
                             "one: ",
                             status.message()));
    return status;
  }
  const std::unique_ptr<writer::TraceFile> ended = std::exchange(file_, *std::move(next));
  const absl::Status status = drain_->NextFile(
      *file_, DescribeStart(),
      [this](proto::SessionEnd& end) { FinishEnd(proto::SessionEnd::STOPPED, end); });
  if (!status.ok()) return status;
  return writer::AbsolutePath(ended->path());
}

absl::StatusOr<std::string> Session::Dump() {
  const bool loops = [this] {
    absl::MutexLock lock(&lifecycle_);
    return options_.loop.on();
  }();
  return loops ? NextFile() : Flush();
}

absl::Status Session::Mark(absl::string_view text) {
  absl::MutexLock lock(&lifecycle_);
  if (!recording_.load()) return NotRecording();
  encoder_.AddEvent({.time_ns = clock_.Now(),
                     .major = format::kSession,
                     .minor = format::kSessionMark,
                     .text = text});
  return absl::OkStatus();
}

absl::Status Session::AskTrees(const std::function<void(metrics::TreeWindows&)>& ask) {
  absl::MutexLock lock(&lifecycle_);
  if (!recording_.load()) return NotRecording();
  if (windows_ == nullptr) {
    return absl::FailedPreconditionError(
        "this recording keeps no call trees; begin one with record=tree and mode=merged");
  }
  drain_->Call([&] { ask(*windows_); });
  return absl::OkStatus();
}

absl::StatusOr<std::string> Session::RunCommand(absl::string_view verb,
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

std::string Session::DescribeIdle() const {
  if (has_failed()) {
    return absl::StrCat("state     failed: ", failure(), "; its probes are being taken out");
  }
  if (file_number_ == 0) return "state     idle: nothing was recorded yet";
  std::string text =
      absl::StrCat("state     idle; the last options were ", DescribeOptions(options_));
  if (const std::string why = failure(); !why.empty()) {
    absl::StrAppend(&text, "\nfailed    ", why);
  }
  return text;
}

absl::StatusOr<std::string> Session::DescribeStatus() {
  absl::MutexLock lock(&lifecycle_);
  if (!recording_.load()) return DescribeIdle();
  if (absl::Status status = drain_->Flush(); !status.ok()) return status;
  std::string text;
  drain_->Call([&] {
    absl::StrAppendFormat(
        &text, "state     recording for %s\nfile      %s (%.1f MB)\n",
        absl::FormatDuration(absl::Trunc(absl::Now() - began_, absl::Milliseconds(100))),
        writer::AbsolutePath(file_->path()), static_cast<double>(file_->bytes_written()) / 1e6);
    absl::StrAppend(&text, "options   ", DescribeOptions(options_));
    if (probes_ != nullptr) {
      absl::StrAppend(&text, "\ncalls     ", calls(), " by ", instrumentation_->methods_probed(),
                      " methods with probes");
    }
    if (sample_source_ != nullptr) {
      absl::StrAppend(&text, "\nsamples   ", sample_source_->samples());
    }
    absl::StrAppend(&text, DescribeWarnings());
  });
  return text;
}

std::string Session::DescribeWarnings() const {
  std::string text;
  for (const LossRow& loss : losses_.Snapshot()) {
    if (loss.severity == Severity::kInfo) continue;
    absl::StrAppend(&text, "\nloss      ", loss.count, " ", loss.what);
    if (!loss.advice.empty()) absl::StrAppend(&text, "; ", loss.advice);
  }
  return text;
}

Session::Due Session::WhatIsDue(absl::Time now) {
  absl::MutexLock lock(&lifecycle_);
  if (!recording_.load()) {
    return {.what = has_failed() ? Due::kCleanUp : Due::kNothing};
  }
  if (has_late_classes_.exchange(false)) return {.what = Due::kAddProbes, .next = now};
  const absl::Time end = began_ + options_.duration;
  if (now >= end) return {.what = Due::kStop};
  Due due = {.next = end};
  if (!options_.loop.on()) return due;
  const absl::Time file_end = file_began_ + options_.loop.time;
  const bool is_full =
      now >= file_began_ + kSizeCheckPeriod && file_->bytes_written() >= options_.loop.bytes;
  if (now >= file_end || is_full) {
    return {.what = Due::kNextFile, .next = end};
  }
  due.next = std::min(due.next, file_end);
  if (options_.loop.bytes != Loop::kNoBytes) due.next = std::min(due.next, now + kSizeCheckPeriod);
  return due;
}

void Session::CleanUpAfterFailure(JNIEnv* jni) {
  absl::MutexLock lock(&lifecycle_);
  if (has_failed()) CleanUp(jni);
}

}  // namespace jtrace
