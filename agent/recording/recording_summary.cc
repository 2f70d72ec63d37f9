#include "agent/recording/recording_summary.h"

#include <unistd.h>

#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "agent/base/clock.h"
#include "agent/base/version.h"
#include "agent/jvm/env.h"
#include "agent/jvm/jvm_flags.h"
#include "agent/jvm/vm_structs.h"
#include "common/counted.h"
#include "common/thousands.h"

namespace jtrace {
namespace {

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "";
}

// What decides whether C2 and C1 inline a call.
void AddInliningLimits(const void* libjvm_address, proto::SessionStart& start) {
  constexpr std::string_view kLimits[] = {"MaxInlineSize",
                                          "FreqInlineSize",
                                          "InlineSmallCode",
                                          "MaxTrivialSize",
                                          "MaxInlineLevel",
                                          "MaxRecursiveInlineLevel",
                                          "TypeProfileMajorReceiverPercent",
                                          "C1MaxInlineSize",
                                          "C1MaxInlineLevel",
                                          "C1MaxRecursiveInlineLevel"};
  constexpr std::string_view kRatios[] = {"InlineFrequencyRatio", "MinInlineFrequencyRatio"};
  const auto structs = jvm::VmStructs::Of(libjvm_address);
  if (!structs.ok()) return;
  const jvm::JvmFlags flags(**structs);
  for (const std::string_view name : kLimits) {
    const std::optional<int64_t> value = flags.Int(name);
    if (!value.has_value()) continue;
    proto::Flag& limit = *start.add_inlining_limit();
    limit.set_name(std::string(name));
    limit.set_value(*value);
  }
  for (const std::string_view name : kRatios) {
    const std::optional<double> value = flags.Double(name);
    if (!value.has_value()) continue;
    proto::Flag& limit = *start.add_inlining_limit();
    limit.set_name(std::string(name));
    limit.set_real(*value);
  }
}

}  // namespace

void NameProgram(RecordingParts& parts) {
  parts.jvm_name = absl::StrCat(jvm::SystemProperty(parts.jvm.env, "java.vm.name"), " ",
                                jvm::SystemProperty(parts.jvm.env, "java.vm.version"));
  parts.command = jvm::SystemProperty(parts.jvm.env, "sun.java.command");
}

proto::SessionStart DescribeNextFile(const RecordingParts& parts) {
  proto::SessionStart start = DescribeStart(parts);
  start.set_file_begin_ns(parts.jvm.trace.clock.Now());
  return start;
}

proto::SessionStart DescribeStart(const RecordingParts& parts) {
  proto::SessionStart start;
  start.set_agent_version(JTRACE_VERSION);
  start.set_unix_time_ns(UnixNanos() - parts.jvm.trace.clock.Now());
  start.set_pid(getpid());
  start.set_host(HostName());
  start.set_jvm(parts.jvm_name);
  start.set_command(parts.command);
  start.set_options(DescribeOptions(parts.options));
  start.set_codes(ChangedCodes(parts.options));
  start.set_mode(std::string(ModeName(parts.options.mode)));
  start.set_record(std::string(RecordName(parts.options.record)));
  start.set_clock(std::string(ClockName(parts.options.clock)));
  AddInliningLimits(parts.jvm.libjvm_address(), start);
  if (parts.samples == nullptr) return start;
  const SampleOptions& samples = parts.options.samples;
  start.set_timer(parts.samples->TimerInUse());
  start.set_jitter(parts.samples->has_jitter());
  start.set_stack(std::string(StackName(samples.stack)));
  if (samples.period != 0) {
    start.set_interval_events(samples.period);
  } else {
    start.set_interval_ns(static_cast<uint64_t>(absl::ToInt64Nanoseconds(samples.interval)));
  }
  return start;
}

void FinishEnd(const RecordingParts& parts, proto::SessionEnd::Reason reason,
               proto::SessionEnd& end) {
  end.set_reason(reason);
  end.set_agent_cpu_ns(parts.drain->cpu_ns());
  if (!parts.calls->is_started()) return;
  end.set_methods_probed(parts.classes->instrumentation().methods_probed());
  end.set_classes_rewritten(parts.classes->instrumentation().classes_rewritten());
  end.set_agent_memory_bytes(parts.calls->memory_bytes());
  if (parts.calls->records_all()) end.set_calls(parts.calls->file_calls());
}

void ReportWhatComesTooLate(const RecordingParts& parts) {
  Losses& losses = parts.jvm.trace.losses;
  for (const std::string& what : parts.jvm.granted.refused) {
    losses.Add("attach.refused", Severity::kWarning, 1,
               absl::StrCat("unavailable when attaching: ", what),
               "start the program with -agentpath");
  }
  if (parts.samples != nullptr && !parts.jvm.code_reports.always_keeps()) {
    losses.Add("attach.debug_info", Severity::kInfo, 1,
               "code compiled before the attach shows inlined methods only at calls",
               "start the program with -agentpath, or with -XX:+UnlockDiagnosticVMOptions "
               "-XX:+DebugNonSafepoints");
  }
}

void ReportGcCause(const RecordingParts& parts) {
  if (parts.jvm.gc_cause.Find(parts.jvm.libjvm_address())) return;
  parts.jvm.trace.losses.Add(
      "gc.no_cause", Severity::kInfo, 1,
      "the JVM does not say why it collects garbage: it keeps no performance counters",
      "leave -XX:-UsePerfData out");
}

// The likeliest mistake with include=: a package without its star.
void ReportEmptyScope(const RecordingParts& parts) {
  if (!parts.calls->is_started() || parts.options.include.empty() ||
      parts.classes->instrumentation().methods_probed() > 0) {
    return;
  }
  parts.jvm.trace.losses.Set(
      "include.no_class", Severity::kWarning, 1,
      absl::StrCat("scope without a class: nothing that was loaded matches include=",
                   absl::StrJoin(parts.options.include, ";")),
      "for a package and all below it write include=com.acme.**");
}

void ReportUnmatchedUnwinds(const RecordingParts& parts) {
  if (!parts.calls->is_started()) return;
  const std::vector<std::string> hooked =
      parts.classes->instrumentation().method_hooks().Unmatched();
  if (!hooked.empty()) {
    parts.jvm.trace.losses.Set(
        "hook.no_method", Severity::kWarning, hooked.size(),
        absl::StrCat("names in hook= that no loaded method with code matches: ",
                     absl::StrJoin(hooked, ";")),
        "write com.acme.Cache::load for a Java method, libc.so.6!malloc for a native function");
  }
  const std::vector<std::string> patterns = parts.classes->instrumentation().UnmatchedUnwinds();
  if (patterns.empty()) return;
  parts.jvm.trace.losses.Set(
      "unwind.no_method", Severity::kWarning, patterns.size(),
      absl::StrCat("names in unwind= that no loaded method with code matches: ",
                   absl::StrJoin(patterns, ";")),
      "write them as com.acme.Cache::load or com.acme.Outer$Inner::load");
}

std::string DescribeEnd(const RecordingParts& parts, proto::SessionEnd::Reason reason) {
  const trace::TraceFile& file = parts.file.file();
  if (const absl::Status kept = file.CheckKept(); !kept.ok()) {
    return absl::StrCat("warning: ", absl::string_view(kept.message()));
  }
  std::string what;
  if (parts.calls->is_started()) {
    absl::StrAppend(&what, WithNoun(parts.calls->calls(), "call"),
                    parts.calls->records_all() ? "" : " (those of one kind not recorded)", ", ");
  }
  if (parts.samples != nullptr) {
    absl::StrAppend(&what, WithNoun(parts.samples->samples(), "sample"), ", ");
    const uint64_t dropped = parts.jvm.trace.losses.Count("sample.ring_full");
    if (dropped != 0) absl::StrAppend(&what, WithThousands(dropped), " more dropped, ");
    if (reason == proto::SessionEnd::SAMPLES) {
      absl::StrAppend(&what, "ended by samples=", parts.options.most_samples, ", ");
    }
  }
  const EndedFiles::Sum removed = parts.file.ended().removed();
  if (removed.files != 0) {
    absl::StrAppendFormat(&what, "%s (%.1f MB) removed by keep=, ",
                          WithNoun(removed.files, "older file"),
                          static_cast<double>(removed.bytes) / 1e6);
  }
  return absl::StrFormat("wrote %s: %s%.1f MB; see it with: jtrace-post %s", parts.file.path(),
                         what, static_cast<double>(file.bytes_written()) / 1e6, parts.file.path());
}

std::string DescribeEndedFiles(RecordingParts& parts) {
  if (!parts.options.keep.on()) return "";
  const EndedFiles::Sum left = parts.file.ended().Left();
  const EndedFiles::Sum removed = parts.file.ended().removed();
  return absl::StrFormat("\nended     %s (%.1f MB); removed by keep=: %d (%.1f MB)",
                         WithNoun(left.files, "file"), static_cast<double>(left.bytes) / 1e6,
                         removed.files, static_cast<double>(removed.bytes) / 1e6);
}

std::string DescribeWarnings(const RecordingParts& parts) {
  std::string text;
  for (const LossRow& loss : parts.jvm.trace.losses.Snapshot()) {
    if (loss.severity == Severity::kInfo) continue;
    absl::StrAppend(&text, "\nloss      ", WithText(loss.count, loss.what));
    if (!loss.advice.empty()) absl::StrAppend(&text, "; ", loss.advice);
  }
  return text;
}

}  // namespace jtrace
