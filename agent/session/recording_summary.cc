// What a recording says of itself: in the trace's first and last record, and on stderr at its end.
#include <unistd.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "agent/base/clock.h"
#include "agent/base/version.h"
#include "agent/jvmti/env.h"
#include "agent/session/recording.h"
#include "common/thousands.h"

namespace jtrace {
namespace {

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "";
}

}  // namespace

proto::SessionStart Recording::DescribeStart() const {
  proto::SessionStart start;
  start.set_agent_version(JTRACE_VERSION);
  start.set_unix_time_ns(UnixNanos() - jvm_.trace.clock.Now());
  start.set_pid(getpid());
  start.set_host(HostName());
  start.set_jvm(absl::StrCat(jvmti::SystemProperty(jvm_.env, "java.vm.name"), " ",
                             jvmti::SystemProperty(jvm_.env, "java.vm.version")));
  start.set_command(jvmti::SystemProperty(jvm_.env, "sun.java.command"));
  start.set_options(DescribeOptions(options_));
  start.set_mode(std::string(ModeName(options_.mode)));
  start.set_record(std::string(RecordName(options_.record)));
  start.set_clock(std::string(ClockName(options_.clock)));
  if (samples_ == nullptr) return start;
  const SampleOptions& samples = options_.samples;
  start.set_timer(samples_->TimerInUse());
  start.set_stack(std::string(StackName(samples.stack)));
  if (samples.period != 0) {
    start.set_interval_events(samples.period);
  } else {
    start.set_interval_ns(static_cast<uint64_t>(absl::ToInt64Nanoseconds(samples.interval)));
  }
  return start;
}

void Recording::FinishEnd(proto::SessionEnd::Reason reason, proto::SessionEnd& end) const {
  end.set_reason(reason);
  end.set_agent_cpu_ns(drain_->cpu_ns());
  if (!calls_->is_started()) return;
  end.set_methods_probed(classes_->instrumentation().methods_probed());
  end.set_classes_rewritten(classes_->instrumentation().classes_rewritten());
  end.set_agent_memory_bytes(calls_->memory_bytes());
  end.set_calls(calls_->file_calls());
}

void Recording::ReportWhatComesTooLate() {
  Losses& losses = jvm_.trace.losses;
  for (const std::string& what : jvm_.granted.refused) {
    losses.Add("attach.refused", Severity::kWarning, 1,
               absl::StrCat("unavailable when attaching: ", what),
               "start the program with -agentpath");
  }
  if (samples_ != nullptr) {
    losses.Add("attach.debug_info", Severity::kInfo, 1,
               "code compiled before the attach shows inlined methods only at calls",
               "start the program with -agentpath, or with -XX:+UnlockDiagnosticVMOptions "
               "-XX:+DebugNonSafepoints");
  }
}

void Recording::ReportGcCause() {
  if (jvm_.gc_cause.Find(jvm_.libjvm_address())) return;
  jvm_.trace.losses.Add(
      "gc.no_cause", Severity::kInfo, 1,
      "the JVM does not say why it collects garbage: it keeps no performance counters",
      "leave -XX:-UsePerfData out");
}

// The likeliest mistake with include=: a package without its star.
void Recording::ReportEmptyScope() {
  if (!calls_->is_started() || options_.include.empty() ||
      classes_->instrumentation().methods_probed() > 0) {
    return;
  }
  jvm_.trace.losses.Set(
      "include.no_class", Severity::kWarning, 1,
      absl::StrCat("scope without a class: nothing that was loaded matches include=",
                   absl::StrJoin(options_.include, ";")),
      "for a package and all below it write include=com.acme.**");
}

void Recording::ReportUnmatchedUnwinds() {
  if (!calls_->is_started()) return;
  const std::vector<std::string> patterns = classes_->instrumentation().UnmatchedUnwinds();
  if (patterns.empty()) return;
  jvm_.trace.losses.Set("unwind.no_method", Severity::kWarning, patterns.size(),
                        absl::StrCat("names in unwind= that no loaded method with code matches: ",
                                     absl::StrJoin(patterns, ";")),
                        "write them as com.acme.Cache::load or com.acme.Outer$Inner::load");
}

std::string Recording::DescribeEnd() const {
  const writer::TraceFile& file = file_.file();
  if (const absl::Status kept = file.CheckKept(); !kept.ok()) {
    return absl::StrCat("warning: ", absl::string_view(kept.message()));
  }
  std::string what;
  if (calls_->is_started()) absl::StrAppend(&what, WithThousands(calls_->calls()), " calls, ");
  if (samples_ != nullptr) {
    absl::StrAppend(&what, WithThousands(samples_->samples()), " samples, ");
    const uint64_t dropped = jvm_.trace.losses.Count("sample.ring_full");
    if (dropped != 0) absl::StrAppend(&what, WithThousands(dropped), " more dropped, ");
  }
  return absl::StrFormat("wrote %s: %s%.1f MB; see it with: jtrace-post %s", path(), what,
                         static_cast<double>(file.bytes_written()) / 1e6, path());
}

}  // namespace jtrace
