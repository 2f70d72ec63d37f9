// What a session says of itself: in the trace's first and last record, and on stderr at its end.
#include <unistd.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "agent/base/clock.h"
#include "agent/base/version.h"
#include "agent/jvmti/env.h"
#include "agent/session/session.h"

namespace jtrace {
namespace {

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "";
}

std::string Thousands(uint64_t value) {
  if (value < 1000) return absl::StrCat(value);
  return absl::StrCat(Thousands(value / 1000), ",", absl::Dec(value % 1000, absl::kZeroPad3));
}

}  // namespace

proto::SessionStart Session::DescribeStart() const {
  proto::SessionStart start;
  start.set_agent_version(JTRACE_VERSION);
  start.set_unix_time_ns(UnixNanos() - clock_.Now());
  start.set_pid(getpid());
  start.set_host(HostName());
  start.set_jvm(absl::StrCat(jvmti::SystemProperty(env_, "java.vm.name"), " ",
                             jvmti::SystemProperty(env_, "java.vm.version")));
  start.set_command(jvmti::SystemProperty(env_, "sun.java.command"));
  start.set_options(DescribeOptions(options_));
  start.set_mode(std::string(ModeName(options_.mode)));
  start.set_record(std::string(RecordName(options_.record)));
  start.set_clock(std::string(ClockName(options_.clock)));
  if (options_.WantsSamples()) {
    const SampleOptions& samples = options_.samples;
    start.set_timer(TimerName(samples));
    if (samples.timer == Timer::kCpu) {
      start.set_timer(sampler_->timer_in_use() == sampling::TimerKind::kPerf ? "cpu (perf event)"
                                                                             : "cpu (POSIX timer)");
    }
    start.set_stack(std::string(StackName(samples.stack)));
    if (samples.period != 0) {
      start.set_interval_events(samples.period);
    } else {
      start.set_interval_ns(static_cast<uint64_t>(absl::ToInt64Nanoseconds(samples.interval)));
    }
  }
  return start;
}

uint64_t Session::calls() const {
  if (trees_ != nullptr) return trees_->total_calls() + (logs_ != nullptr ? logs_->calls() : 0);
  return counts_ != nullptr ? counts_->total_calls() : 0;
}

uint64_t Session::file_calls() const {
  if (trees_ != nullptr) return trees_->file_calls();
  return counts_ != nullptr ? counts_->file_calls() : 0;
}

void Session::FinishEnd(proto::SessionEnd::Reason reason, proto::SessionEnd& end) const {
  end.set_reason(reason);
  end.set_agent_cpu_ns(drain_->cpu_ns());
  if (probes_ != nullptr) {
    end.set_methods_probed(instrumentation_->methods_probed());
    end.set_classes_rewritten(instrumentation_->classes_rewritten());
    end.set_agent_memory_bytes(trees_ != nullptr ? trees_->tree_bytes() : probes_->memory_used());
    end.set_calls(file_calls());
  }
}

// The likeliest mistake with include=: a package without its star.
void Session::TellEmptyScope() {
  if (probes_ == nullptr || options_.include.empty() || instrumentation_->methods_probed() > 0) {
    return;
  }
  losses_.Set("include.no_class", Severity::kWarning, 1,
              absl::StrCat("scope without a class: nothing that was loaded matches include=",
                           absl::StrJoin(options_.include, ";")),
              "for a package and all below it write include=com.acme.**");
}

void Session::TellUnmatchedThreads() {
  if (sample_source_ == nullptr) return;
  const std::vector<std::string> patterns = sampled_threads_.Unmatched();
  if (patterns.empty()) return;
  constexpr size_t kNames = 3;
  losses_.Set("threads.no_match", Severity::kWarning, patterns.size(),
              absl::StrCat("names in threads= that no thread had: ", absl::StrJoin(patterns, ";")),
              absl::StrCat("there were, among others: threads=",
                           absl::StrJoin(sampled_threads_.NearestTo(patterns[0], kNames), ";")));
}

void Session::TellUnmatchedUnwinds() {
  if (probes_ == nullptr) return;
  const std::vector<std::string> patterns = instrumentation_->UnmatchedUnwinds();
  if (patterns.empty()) return;
  losses_.Set("unwind.no_method", Severity::kWarning, patterns.size(),
              absl::StrCat("names in unwind= that no loaded method with code matches: ",
                           absl::StrJoin(patterns, ";")),
              "write them as com.acme.Cache::load or com.acme.Outer$Inner::load");
}

std::string Session::DescribeEnd() const {
  if (const absl::Status kept = file_->CheckKept(); !kept.ok()) {
    return absl::StrCat("warning: ", absl::string_view(kept.message()));
  }
  std::string what;
  if (probes_ != nullptr) absl::StrAppend(&what, Thousands(calls()), " calls, ");
  if (sample_source_ != nullptr) {
    absl::StrAppend(&what, Thousands(sample_source_->samples()), " samples, ");
    const uint64_t dropped = losses_.Count("sample.ring_full");
    if (dropped != 0) absl::StrAppend(&what, Thousands(dropped), " more dropped, ");
  }
  return absl::StrFormat("wrote %s: %s%.1f MB; see it with: jtrace-post %s", file_->path(), what,
                         static_cast<double>(file_->bytes_written()) / 1e6, file_->path());
}

}  // namespace jtrace
