#include "agent/recording/recording_commands.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "agent/recording/recording_summary.h"
#include "common/counted.h"
#include "proto/trace_format.h"

namespace jtrace {
namespace {

constexpr absl::Duration kSizeCheckPeriod = absl::Seconds(1);

}  // namespace

absl::StatusOr<std::string> RecordingCommands::Flush() {
  NoteOpenActivations();
  if (absl::Status status = parts_.drain->Flush(); !status.ok()) return status;
  return trace::AbsolutePath(parts_.file.path());
}

absl::StatusOr<std::string> RecordingCommands::NextFile() {
  auto ended = parts_.file.Next(parts_.options.out);
  if (!ended.ok()) {
    parts_.jvm.trace.losses.Add(
        "loop.no_file", Severity::kWarning, 1,
        absl::StrCat("the next file could not be begun, the recording continues in the old one: ",
                     ended.status().message()));
    return ended.status();
  }
  NoteOpenActivations();
  const absl::Status status = parts_.drain->NextFile(
      parts_.file.file(), DescribeNextFile(parts_),
      [this](proto::SessionEnd& end) { FinishEnd(parts_, proto::SessionEnd::STOPPED, end); });
  std::string path = trace::AbsolutePath((*ended)->path());
  // Also one that could not be written to its end: keep= removes it in its turn.
  parts_.file.AddEnded(*std::move(ended));
  if (!status.ok()) return status;
  return path;
}

bool RecordingCommands::CountsBlocks() const {
  return parts_.classes != nullptr && parts_.classes->instrumentation().blocks() != nullptr;
}

void RecordingCommands::NoteOpenActivations() {
  if (!CountsBlocks()) return;
  calls::Instrumentation& instrumentation = parts_.classes->instrumentation();
  JNIEnv* jni = nullptr;
  if (parts_.jvm.vm->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_10) != JNI_OK) return;
  instrumentation.blocks()->SetOpen(
      jvm::FindOpenActivations(parts_.jvm.env, jni, parts_.jvm.registries.classes,
                               parts_.jvm.registries.threads, instrumentation.counted()));
}

// Other threads read the recording's options, which stay as they are.
void RecordingCommands::RecordCode() {
  JvmParts& jvm = parts_.jvm;
  if (jvm.trace.encoder.Wants(format::kJit, format::kJitCode)) return;
  Options options = parts_.options;
  options.codes.SetDefault(Code::kJitCode, true);
  options.codes.SetDefault(Code::kJitInlining, true);
  if (!options.codes.Has(Code::kJitCode)) return;
  jvm.trace.encoder.SetCodes(options.codes);
  jvm.code_reports.Start(options, jvm.code_reader());
  jvm.code_reports.ReportExisting();
}

absl::Status RecordingCommands::QueryTrees(const std::function<void(metrics::TreeWindows&)>& ask) {
  metrics::TreeWindows* const windows = parts_.calls != nullptr ? parts_.calls->windows() : nullptr;
  if (windows == nullptr) {
    return absl::FailedPreconditionError(
        "this recording keeps no call trees; begin one with record=tree and mode=merged");
  }
  parts_.drain->Call([&] { ask(*windows); });
  return absl::OkStatus();
}

std::string RecordingCommands::DescribeStatus() {
  std::string text;
  const std::string ended = DescribeEndedFiles(parts_);
  parts_.drain->Call([&] {
    absl::StrAppendFormat(
        &text, "state     recording for %s\nfile      %s (%.1f MB)\n",
        absl::FormatDuration(absl::Trunc(absl::Now() - parts_.began, absl::Milliseconds(100))),
        trace::AbsolutePath(parts_.file.path()),
        static_cast<double>(parts_.file.file().bytes_written()) / 1e6);
    absl::StrAppend(&text, "options   ", DescribeOptions(parts_.options), ended);
    if (parts_.calls->is_started()) {
      absl::StrAppend(&text, "\ncalls     ", parts_.calls->calls(), " by ",
                      WithNoun(parts_.classes->instrumentation().methods_probed(), "method"),
                      " with probes");
    }
    if (parts_.classes != nullptr && parts_.classes->IsAdding()) {
      absl::StrAppend(&text, "\nprobes    ",
                      DescribeProgress(parts_.classes->batches().progress(), "in"));
    }
    if (parts_.samples != nullptr) {
      absl::StrAppend(&text, "\nsamples   ", parts_.samples->samples());
    }
    absl::StrAppend(&text, DescribeWarnings());
  });
  return text;
}

std::string RecordingCommands::DescribeWarnings() const { return jtrace::DescribeWarnings(parts_); }

Due RecordingCommands::WhatIsDue(absl::Time now) {
  if (parts_.classes != nullptr && parts_.classes->TakeLateClasses()) {
    return {.what = Due::kAddProbes, .next = now};
  }
  const bool is_adding = parts_.classes != nullptr && parts_.classes->IsAdding();
  const absl::Time end =
      is_adding ? absl::InfiniteFuture() : parts_.complete + parts_.options.duration;
  const bool has_enough = !is_adding && parts_.samples != nullptr && parts_.samples->HasEnough();
  if (now >= end || has_enough) return {.what = Due::kStop};
  Due due = {.next = end};
  if (!parts_.options.loop.on()) return due;
  const absl::Time file_end = parts_.file.began() + parts_.options.loop.time;
  const bool is_full = now >= parts_.file.began() + kSizeCheckPeriod &&
                       parts_.file.file().bytes_written() >= parts_.options.loop.bytes;
  if (now >= file_end || is_full) {
    return {.what = Due::kNextFile, .next = end};
  }
  due.next = std::min(due.next, file_end);
  if (parts_.options.loop.bytes != Loop::kNoBytes) {
    due.next = std::min(due.next, now + kSizeCheckPeriod);
  }
  return due;
}

}  // namespace jtrace
