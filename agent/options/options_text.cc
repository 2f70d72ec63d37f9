// Options as text for people: in the agent's first line, in traces, in the answers of `jtrace`.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "agent/options/option_values.h"
#include "agent/options/option_words.h"
#include "agent/options/options.h"
#include "agent/options/sample_options.h"

namespace jtrace {

absl::string_view StackName(hot::StackMode stack) { return WordFor(stack, kStacks); }

absl::string_view ModeName(Mode mode) { return WordFor(mode, kModes); }

absl::string_view RecordName(RecordKind record) { return WordFor(record, kRecords); }

absl::string_view ClockName(Clock clock) { return WordFor(clock, kClocks); }

std::string ChangedCodes(const Options& o) {
  CodeSet codes = o.codes;
  codes.Apply("-boundary").IgnoreError();
  return codes.Changes();
}

std::string DescribeOptions(const Options& o) {
  std::string out = absl::StrCat("mode=", ModeName(o.mode));
  if (o.WantsEvents()) absl::StrAppend(&out, ",record=", RecordName(o.record));
  if (o.WantsEvents() && o.record != RecordKind::kFlat && o.memory_bytes != 0) {
    absl::StrAppend(&out, ",memory=", o.memory_bytes >> 20, "m");
  }
  if (o.WantsEvents() && o.probe_budget != Options().probe_budget) {
    absl::StrAppend(&out, ",probebudget=", o.probe_budget, "%");
  }
  if (o.probes_rest) absl::StrAppend(&out, ",probes=resting");
  if (o.WantsEvents() && !o.compilers_first) absl::StrAppend(&out, ",compilers=asis");
  if (o.clock != Clock::kNone) absl::StrAppend(&out, ",clock=", ClockName(o.clock));
  if (o.exit_percent > 0) absl::StrAppend(&out, ",pruneexit=", o.exit_percent);
  if (o.log_budget != 0) absl::StrAppend(&out, ",logbudget=", FormatBytes(o.log_budget));
  if (o.log_waits) absl::StrAppend(&out, ",overflow=wait");
  if (o.WantsSamples()) {
    absl::StrAppend(&out, DescribeSampleOptions(o.samples));
    if (o.samples.stack != hot::StackMode::kFull) {
      absl::StrAppend(&out, ",stack=", StackName(o.samples.stack));
    }
  }
  for (const UnwindRule& rule : o.unwinds) {
    absl::StrAppend(&out, ",unwind=", UnwindRuleText(rule));
  }
  for (const auto* specs : {&o.hooks, &o.method_hooks}) {
    for (const native_hooks::HookSpec& spec : *specs) {
      absl::StrAppend(&out, ",hook=", native_hooks::HookSpecText(spec));
    }
  }
  if (!o.metrics.empty()) absl::StrAppend(&out, ",metrics=", absl::StrJoin(o.metrics, ";"));
  if (o.boundary) absl::StrAppend(&out, ",boundary=", o.boundary_costs ? "costs" : "on");
  if (const std::string codes = ChangedCodes(o); !codes.empty()) {
    absl::StrAppend(&out, ",codes=", codes);
  }
  if (o.blocks != Blocks::kOff) {
    absl::StrAppend(&out, ",blocks=", WordFor(o.blocks, kBlocks));
  }
  if (o.sites) absl::StrAppend(&out, ",sites=on");
  if (o.duration < absl::InfiniteDuration()) {
    absl::StrAppend(&out, ",duration=", absl::FormatDuration(o.duration));
  }
  if (o.most_samples != 0) absl::StrAppend(&out, ",samples=", o.most_samples);
  absl::StrAppend(&out, DescribeFileOptions(o.loop, o.keep));
  if (!o.include.empty()) absl::StrAppend(&out, ",include=", absl::StrJoin(o.include, ";"));
  if (!o.exclude.empty()) absl::StrAppend(&out, ",exclude=", absl::StrJoin(o.exclude, ";"));
  return out;
}

}  // namespace jtrace
