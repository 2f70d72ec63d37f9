// Commands to a running recording.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "agent/session/recording.h"

namespace jtrace {
namespace {

constexpr absl::Duration kSizeCheckPeriod = absl::Seconds(1);

}  // namespace

absl::StatusOr<std::string> Recording::Flush() {
  if (absl::Status status = drain_->Flush(); !status.ok()) return status;
  return writer::AbsolutePath(path());
}

absl::StatusOr<std::string> Recording::NextFile() {
  const auto ended = file_.Next(options_.out);
  if (!ended.ok()) {
    jvm_.trace.losses.Add(
        "loop.no_file", Severity::kWarning, 1,
        absl::StrCat("the next file could not be begun, the recording continues in the old one: ",
                     ended.status().message()));
    return ended.status();
  }
  const absl::Status status = drain_->NextFile(
      file_.file(), DescribeStart(),
      [this](proto::SessionEnd& end) { FinishEnd(proto::SessionEnd::STOPPED, end); });
  if (!status.ok()) return status;
  return writer::AbsolutePath((*ended)->path());
}

absl::Status Recording::AskTrees(const std::function<void(metrics::TreeWindows&)>& ask) {
  metrics::TreeWindows* const windows = calls_->windows();
  if (windows == nullptr) {
    return absl::FailedPreconditionError(
        "this recording keeps no call trees; begin one with record=tree and mode=merged");
  }
  drain_->Call([&] { ask(*windows); });
  return absl::OkStatus();
}

std::string Recording::DescribeStatus() {
  std::string text;
  drain_->Call([&] {
    absl::StrAppendFormat(
        &text, "state     recording for %s\nfile      %s (%.1f MB)\n",
        absl::FormatDuration(absl::Trunc(absl::Now() - began_, absl::Milliseconds(100))),
        writer::AbsolutePath(path()), static_cast<double>(file_.file().bytes_written()) / 1e6);
    absl::StrAppend(&text, "options   ", DescribeOptions(options_));
    if (calls_->is_started()) {
      absl::StrAppend(&text, "\ncalls     ", calls_->calls(), " by ",
                      classes_->instrumentation().methods_probed(), " methods with probes");
    }
    if (samples_ != nullptr) absl::StrAppend(&text, "\nsamples   ", samples_->samples());
    absl::StrAppend(&text, DescribeWarnings());
  });
  return text;
}

std::string Recording::DescribeWarnings() const {
  std::string text;
  for (const LossRow& loss : jvm_.trace.losses.Snapshot()) {
    if (loss.severity == Severity::kInfo) continue;
    absl::StrAppend(&text, "\nloss      ", loss.count, " ", loss.what);
    if (!loss.advice.empty()) absl::StrAppend(&text, "; ", loss.advice);
  }
  return text;
}

Due Recording::WhatIsDue(absl::Time now) {
  if (classes_ != nullptr && classes_->TakeLate()) return {.what = Due::kAddProbes, .next = now};
  const absl::Time end = began_ + options_.duration;
  if (now >= end) return {.what = Due::kStop};
  Due due = {.next = end};
  if (!options_.loop.on()) return due;
  const absl::Time file_end = file_.began() + options_.loop.time;
  const bool is_full = now >= file_.began() + kSizeCheckPeriod &&
                       file_.file().bytes_written() >= options_.loop.bytes;
  if (now >= file_end || is_full) {
    return {.what = Due::kNextFile, .next = end};
  }
  due.next = std::min(due.next, file_end);
  if (options_.loop.bytes != Loop::kNoBytes) due.next = std::min(due.next, now + kSizeCheckPeriod);
  return due;
}

}  // namespace jtrace
