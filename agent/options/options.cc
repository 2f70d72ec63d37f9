#include "agent/options/options.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "agent/options/metric_options.h"
#include "agent/options/option_table.h"
#include "agent/options/sample_options.h"
#include "common/nearest.h"

namespace jtrace {
namespace {

constexpr int kMaxConfigDepth = 8;

absl::Status ParseOne(absl::string_view item, Options& options) {
  const size_t equals = item.find('=');
  const bool has_value = equals != absl::string_view::npos;
  const absl::string_view name = absl::StripAsciiWhitespace(item.substr(0, equals));
  const absl::string_view value =
      has_value ? absl::StripAsciiWhitespace(item.substr(equals + 1)) : absl::string_view();
  for (const OptionRow& row : OptionTable()) {
    if (row.name != name) continue;
    if (!row.value.empty() && !has_value) {
      return absl::InvalidArgumentError(
          absl::StrCat("option '", name, "' needs a value: ", name, "=", row.value));
    }
    absl::Status status = row.parse(value, options);
    if (!status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("option '", name, "': ", status.message()));
    }
    return absl::OkStatus();
  }
  if (!has_value && absl::StrContains(name, '.')) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", name,
                     "' is not an option; several patterns, names or codes are "
                     "separated by ';', as in include=a.**;b.**"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown option '", name, "'; did you mean '",
                   Nearest(name, OptionTable(), [](const OptionRow& row) { return row.name; }),
                   "'? (try help)"));
}

bool IsOption(absl::string_view name) {
  const absl::Span<const OptionRow> table = OptionTable();
  return std::any_of(table.begin(), table.end(),
                     [name](const OptionRow& row) { return row.name == name; });
}

bool ParseAction(absl::string_view item, Options& options) {
  return ParseWord(absl::StripAsciiWhitespace(item), kActions, options.action).ok();
}

absl::Status ParseInto(absl::string_view text, Options& options) {
  bool is_first = true;
  for (absl::string_view item : SplitOptions(text, IsOption)) {
    if (std::exchange(is_first, false) && ParseAction(item, options)) continue;
    if (absl::Status status = ParseOne(item, options); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// A mode consists of samples and of calls of both kinds.
absl::Status ApplyCodesToMode(Options& options) {
  const bool no_calls = !options.codes.Has(Code::kInterpreted) && !options.codes.Has(Code::kJitted);
  const bool no_samples = !options.codes.Has(Code::kSample);
  if (no_samples && options.mode == Mode::kMerged) options.mode = Mode::kEvents;
  if (no_calls && options.mode == Mode::kMerged) options.mode = Mode::kSamples;
  if ((no_samples && options.WantsSamples()) || (no_calls && options.WantsEvents())) {
    return absl::InvalidArgumentError(
        "option 'codes': nothing is left to record; leave 0x30 and 0x50, or 0x40, on");
  }
  return absl::OkStatus();
}

// Samples alone do without records of compiled methods, which cost 30 us each; callers of hooked
// functions are named by them.
void ApplyModeToCodes(Options& options) {
  if (options.mode != Mode::kSamples || !options.hooks.empty()) return;
  options.codes.SetDefault(Code::kJitCode, false);
  options.codes.SetDefault(Code::kJitInlining, false);
}

bool HasCallPaths(const Options& options) {
  return options.record == RecordKind::kTree && options.WantsEvents();
}

// Whether other options let the metrics be counted.
absl::Status CheckMetrics(const Options& options) {
  const absl::string_view counts_objects = MetricOfObjects(options.metrics);
  if (!counts_objects.empty() && options.codes.Has(Code::kAllocation)) {
    return absl::InvalidArgumentError(
        absl::StrCat("option 'metrics': ", counts_objects,
                     " looks at every object, and codes=+0x70 samples some; leave one "
                     "of them out"));
  }
  if (CountsAllocationSites(options.metrics) && !HasCallPaths(options)) {
    return absl::InvalidArgumentError(
        "option 'metrics': alloc.sites needs record=tree and mode=merged or events");
  }
  if (absl::string_view name = MetricOfAllThreads(options.metrics);
      !name.empty() && !HasCallPaths(options)) {
    return absl::InvalidArgumentError(
        absl::StrCat("option 'metrics': ", name, " needs record=tree and mode=merged or events"));
  }
  if (absl::string_view name = MetricOfOutsideCalls(options.metrics);
      !name.empty() && !(options.boundary && options.boundary_costs && HasCallPaths(options))) {
    return absl::InvalidArgumentError(
        absl::StrCat("option 'metrics': ", name,
                     " needs boundary=costs, record=tree and mode=merged or events"));
  }
  return absl::OkStatus();
}

}  // namespace

// With a clock of nanoseconds each node has its time.
std::vector<std::string> RecordedMetrics(const Options& o) {
  if (!o.boundary || !o.boundary_costs || !HasCallPaths(o)) return o.metrics;
  const bool is_timed = o.clock != Clock::kTsc && o.clock != Clock::kCpu;
  return WithOutsideMetrics(o.metrics, is_timed);
}

absl::string_view MoreThanCalls(const Options& o) {
  if (o.record == RecordKind::kLog) return "record=log";
  if (o.clock != Clock::kNone) return "clock=";
  if (o.blocks != Blocks::kOff) return "blocks=";
  if (o.sites) return "sites=";
  if (o.boundary) return "boundary=";
  if (!o.metrics.empty()) return "metrics=";
  if (!o.unwinds.empty()) return "unwind=";
  return o.method_hooks.empty() ? "" : "hook=";
}

// A configuration file may name another; a cycle ends at kMaxConfigDepth.
absl::Status ParseConfig(absl::string_view value, Options& o) {
  thread_local int depth = 0;
  struct Depth {
    Depth() { ++depth; }
    ~Depth() { --depth; }
  } guard;
  if (depth > kMaxConfigDepth) {
    return absl::InvalidArgumentError("configuration files include one another");
  }
  const auto text = ReadTextFile(value);
  if (!text.ok()) return text.status();
  int number = 0;
  for (absl::string_view line : absl::StrSplit(*text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line.front() == '#') continue;
    if (absl::Status status = ParseOne(line, o); !status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(value, ":", number, ": ", status.message()));
    }
  }
  return absl::OkStatus();
}

namespace {

// What a thread was charged with while they rested would be wrong.
absl::Status CheckResting(const Options& o) {
  if (!o.probes_rest) return absl::OkStatus();
  if (o.action != Action::kServe) {
    return absl::InvalidArgumentError(
        "option 'probes': resting is for a JVM that serves: "
        "-agentpath:…/libjtrace.so=serve,probes=resting");
  }
  absl::string_view more = MoreThanCalls(o);
  if (!o.WantsEvents()) more = "mode=samples";
  if (more.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "option 'probes': resting ones count calls alone; leave ", more, " to jtrace start"));
}

absl::Status CheckBlocks(const Options& options) {
  if (options.blocks == Blocks::kByPath && options.record == RecordKind::kFlat) {
    return absl::InvalidArgumentError(
        "option 'blocks': record=flat has no call paths; use record=tree, or blocks=on");
  }
  if (options.blocks != Blocks::kOff &&
      (!options.WantsEvents() || options.record == RecordKind::kLog)) {
    return absl::InvalidArgumentError(
        "option 'blocks': needs probes and counts: mode=merged or events, record=tree or flat");
  }
  const bool all_calls = options.codes.Has(Code::kInterpreted) && options.codes.Has(Code::kJitted);
  if (options.blocks != Blocks::kOff && options.record == RecordKind::kTree && !all_calls) {
    return absl::InvalidArgumentError(
        "option 'blocks': counts of lines begin with those of calls, of both kinds; leave 0x30 and "
        "0x50 on, or use record=flat");
  }
  return absl::OkStatus();
}

absl::Status CheckSites(const Options& options) {
  if (options.sites && (!options.WantsEvents() || options.record != RecordKind::kTree)) {
    return absl::InvalidArgumentError(
        "option 'sites': needs call trees: mode=merged or events, record=tree");
  }
  if (options.sites && options.blocks == Blocks::kByPath) {
    return absl::InvalidArgumentError(
        "option 'sites': not with blocks=paths, which has lines of its own; use blocks=on");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Options> ParseOptions(absl::string_view text) {
  Options options;
  if (absl::Status status = ParseInto(text, options); !status.ok()) return status;
  if (absl::Status status = FinishInterval(options.samples); !status.ok()) return status;
  if (absl::Status status = ApplyCodesToMode(options); !status.ok()) return status;
  ApplyModeToCodes(options);
  if (options.clock != Clock::kNone && options.record == RecordKind::kFlat) {
    return absl::InvalidArgumentError(
        "option 'clock': record=flat has no exits to read a clock at; use record=tree");
  }
  if (options.log_waits && (!options.WantsEvents() || options.record != RecordKind::kLog)) {
    return absl::InvalidArgumentError(
        "option 'overflow': only logs overflow; use record=log, or leave it out");
  }
  if (absl::Status status = CheckBlocks(options); !status.ok()) return status;
  if (options.exit_percent > 0 && (options.clock == Clock::kNone || !options.WantsEvents() ||
                                   options.record != RecordKind::kTree)) {
    return absl::InvalidArgumentError(
        "option 'pruneexit': compares times of paths; needs clock= and record=tree");
  }
  if (options.exit_percent > 0 && options.blocks == Blocks::kByPath) {
    return absl::InvalidArgumentError(
        "option 'pruneexit': not with blocks=paths, which keeps counters of each path; use prune=");
  }
  if (absl::Status status = CheckSites(options); !status.ok()) return status;
  if (absl::Status status = CheckResting(options); !status.ok()) return status;
  if (absl::Status status = CheckMetrics(options); !status.ok()) return status;
  if (absl::Status status = CheckKeep(options.loop, options.keep); !status.ok()) return status;
  if (options.WantsSamples()) {
    const absl::Status status = CheckStackIsWalkable(options.samples, !options.unwinds.empty());
    if (!status.ok()) return status;
  }
  if (options.most_samples != 0 && !options.WantsSamples()) {
    return absl::InvalidArgumentError(
        "option 'samples': needs samples; use mode=merged or samples");
  }
  if (!options.unwinds.empty() && options.mode != Mode::kMerged) {
    return absl::InvalidArgumentError("option 'unwind': needs probes and samples; use mode=merged");
  }
  if (!options.method_hooks.empty() && !options.WantsEvents()) {
    return absl::InvalidArgumentError(
        "option 'hook': counts of Java methods need probes; use mode=merged or events");
  }
  if (!options.hooks.empty() && !options.WantsSamples()) {
    return absl::InvalidArgumentError(
        "option 'hook': needs sampled threads; use mode=merged or samples");
  }
  return options;
}

std::string OptionsHelp() {
  std::string out =
      "jtrace: exact call trees of Java programs with samples merged on\n"
      "usage: java -agentpath:libjtrace.so[=OPTION[=VALUE],…] …\n"
      "       java -agentpath:libjtrace.so=mode=merged,out=/tmp/%p.bin -jar app.jar\n"
      "       java -agentpath:libjtrace.so=serve …   record nothing until: jtrace start PID\n\n";
  for (const OptionRow& row : OptionTable()) {
    const std::string name =
        row.value.empty() ? std::string(row.name) : absl::StrCat(row.name, "=", row.value);
    absl::StrAppendFormat(&out, "  %-28s %s\n", name, row.help);
  }
  absl::StrAppend(&out, "\n", SampleOptionsHelp(), "\n", MetricsHelp());
  absl::StrAppend(&out, "\ncodes, and whether they are on by default:\n", CodesHelp());
  return out;
}

absl::string_view StackName(samples::StackMode stack) { return WordFor(stack, kStacks); }

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
    if (o.samples.stack != samples::StackMode::kFull) {
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
