#include "agent/options/option_table.h"

#include <signal.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "agent/options/call_costs.h"
#include "agent/options/file_options.h"
#include "agent/options/metric_options.h"
#include "agent/options/option_values.h"
#include "agent/options/sample_options.h"
#include "common/scope_filter.h"

namespace jtrace {
namespace {

using Values = std::vector<std::string>;

absl::Status Invalid(absl::string_view message) { return absl::InvalidArgumentError(message); }

Values NoneIf(bool is_initial, std::string value) {
  return is_initial ? Values() : Values{std::move(value)};
}

Values Joined(const std::vector<std::string>& items) {
  return NoneIf(items.empty(), absl::StrJoin(items, ";"));
}

// Options whose value is one of a list of words.

constexpr std::array kModes = {Word<Mode>{"merged", Mode::kMerged},
                               Word<Mode>{"events", Mode::kEvents},
                               Word<Mode>{"samples", Mode::kSamples}};
constexpr std::array kRecords = {Word<RecordKind>{"tree", RecordKind::kTree},
                                 Word<RecordKind>{"flat", RecordKind::kFlat},
                                 Word<RecordKind>{"log", RecordKind::kLog}};
constexpr std::array kClocks = {Word<Clock>{"none", Clock::kNone},
                                Word<Clock>{"coarse", Clock::kCoarse},
                                Word<Clock>{"tsc", Clock::kTsc}, Word<Clock>{"cpu", Clock::kCpu},
                                Word<Clock>{"manual", Clock::kManual}};
constexpr std::array kStacks = {Word<samples::StackMode>{"full", samples::StackMode::kFull},
                                Word<samples::StackMode>{"app", samples::StackMode::kApp},
                                Word<samples::StackMode>{"frame", samples::StackMode::kFrame},
                                Word<samples::StackMode>{"appframe", samples::StackMode::kAppFrame},
                                Word<samples::StackMode>{"pc", samples::StackMode::kPc}};
constexpr std::array kBlocks = {Word<Blocks>{"on", Blocks::kByMethod},
                                Word<Blocks>{"paths", Blocks::kByPath},
                                Word<Blocks>{"off", Blocks::kOff}};
constexpr std::array kOverflows = {Word<bool>{"gap", false}, Word<bool>{"wait", true}};
constexpr std::array kCompilers = {Word<bool>{"first", true}, Word<bool>{"asis", false}};
constexpr std::array kProbes = {Word<bool>{"atstart", false}, Word<bool>{"resting", true}};
constexpr std::array kSwitch = {Word<bool>{"on", true}, Word<bool>{"off", false}};

enum class BoundaryWord { kOff, kOn, kCosts };
constexpr std::array kBoundaries = {Word<BoundaryWord>{"on", BoundaryWord::kOn},
                                    Word<BoundaryWord>{"costs", BoundaryWord::kCosts},
                                    Word<BoundaryWord>{"off", BoundaryWord::kOff}};

template <auto kField, const auto& kWords>
absl::Status ParseField(absl::string_view value, Options& o) {
  return ParseWord(value, kWords, o.*kField);
}
template <auto kField, const auto& kWords>
Values DescribeField(const Options& o) {
  return NoneIf(o.*kField == Options().*kField, std::string(WordFor(o.*kField, kWords)));
}

bool HasCallPaths(const Options& o) { return o.record == RecordKind::kTree && o.WantsCalls(); }

// What is recorded: mode=, record=, clock=

Values DescribeMode(const Options& o) { return {std::string(ModeName(o.mode))}; }

// A mode consists of samples and of calls; codes= may leave one of them. The other options' checks
// see the mode that results.
absl::Status ApplyCodesToMode(Options& o) {
  if (o.mode == Mode::kMerged && !o.codes.Has(Code::kSample)) o.mode = Mode::kEvents;
  if (o.mode == Mode::kMerged && !o.HasCalls()) o.mode = Mode::kSamples;
  // Samples alone do without records of compiled methods, which cost 30 us each; callers of hooked
  // functions are named by them.
  if (o.mode == Mode::kSamples && o.hooks.empty()) {
    o.codes.SetDefault(Code::kJitCode, false);
    o.codes.SetDefault(Code::kJitInlining, false);
  }
  return absl::OkStatus();
}

absl::Status CheckCodes(Options& o) {
  if ((o.WantsSamples() && !o.codes.Has(Code::kSample)) || (o.WantsCalls() && !o.HasCalls())) {
    return Invalid("nothing is left to record; leave 0x30 and 0x50, or 0x40, on");
  }
  return absl::OkStatus();
}

Values DescribeRecord(const Options& o) {
  return NoneIf(!o.WantsCalls() && o.record == RecordKind::kTree,
                std::string(RecordName(o.record)));
}

absl::Status CheckClock(Options& o) {
  if (o.clock == Clock::kNone || o.record != RecordKind::kFlat) return absl::OkStatus();
  return Invalid("record=flat has no exits to read a clock at; use record=tree");
}

// Logs: logbudget=, overflow=

absl::Status ParseLogBudget(absl::string_view value, Options& o) {
  return ParseBytes(value, o.log_budget);
}
Values DescribeLogBudget(const Options& o) {
  return NoneIf(o.log_budget == 0, FormatBytes(o.log_budget));
}

absl::Status CheckOverflow(Options& o) {
  if (!o.log_waits || (o.WantsCalls() && o.record == RecordKind::kLog)) return absl::OkStatus();
  return Invalid("only logs overflow; use record=log, or leave it out");
}

// Samples: interval=, timer=, jitter=, stack=, threads=

absl::Status ParseTimer(absl::string_view value, Options& o) {
  return ParseTimer(value, o.samples);
}
Values DescribeTimer(const Options& o) {
  return NoneIf(o.samples.timer == Timer::kCpu, TimerName(o.samples));
}

// Keeps the text, whose meaning depends on timer=, which may follow.
absl::Status ParseInterval(absl::string_view value, Options& o) {
  if (value.empty()) return Invalid("needs a time such as 1ms, or a number of events");
  o.samples.interval_text = std::string(value);
  return absl::OkStatus();
}
Values DescribeInterval(const Options& o) {
  return NoneIf(!o.WantsSamples() && HasDefaultInterval(o.samples), IntervalText(o.samples));
}
absl::Status FinishInterval(Options& o) { return FinishInterval(o.samples); }

absl::Status ParseJitter(absl::string_view value, Options& o) {
  return ParseWord(value, kSwitch, o.samples.jitter.emplace());
}
Values DescribeJitter(const Options& o) {
  if (!o.samples.jitter.has_value()) return {};
  return {std::string(WordFor(*o.samples.jitter, kSwitch))};
}
absl::Status CheckJitter(Options& o) { return CheckJitter(o.samples); }

absl::Status ParseStack(absl::string_view value, Options& o) {
  return ParseWord(value, kStacks, o.samples.stack);
}
Values DescribeStack(const Options& o) {
  const samples::StackMode silent =
      o.WantsSamples() ? samples::StackMode::kFull : Options().samples.stack;
  return NoneIf(o.samples.stack == silent, std::string(StackName(o.samples.stack)));
}
absl::Status CheckStack(Options& o) {
  if (samples::kWalksStacks || !o.WantsSamples() || o.samples.stack == samples::StackMode::kPc) {
    return absl::OkStatus();
  }
  return absl::UnimplementedError(
      "walking stacks needs x86-64; use stack=pc, which is the default here");
}

absl::Status ParseThreads(absl::string_view value, Options& o) {
  return AppendItems(value, "needs a thread's name such as worker-*", o.samples.threads);
}
Values DescribeThreads(const Options& o) { return Joined(o.samples.threads); }

// The scope: include=, exclude=

constexpr absl::string_view kNeedsPattern = "needs a pattern such as com.acme.**";

absl::Status ParseInclude(absl::string_view value, Options& o) {
  if (absl::Status status = AppendItems(value, kNeedsPattern, o.include); !status.ok()) {
    return status;
  }
  if (std::erase(o.include, "own") > 0) o.includes_own = true;
  return classfile::ScopeFilter::Create(o.include, {}).status();
}
Values DescribeInclude(const Options& o) {
  Values patterns = o.include;
  if (o.includes_own) patterns.insert(patterns.begin(), "own");
  return Joined(patterns);
}

absl::Status ParseExclude(absl::string_view value, Options& o) {
  if (absl::Status status = AppendItems(value, kNeedsPattern, o.exclude); !status.ok()) {
    return status;
  }
  return classfile::ScopeFilter::Create({}, o.exclude).status();
}
Values DescribeExclude(const Options& o) { return Joined(o.exclude); }

// Probes in a running program: probebudget=, probes=

absl::Status ParseProbeBudget(absl::string_view value, Options& o) {
  if (!absl::SimpleAtoi(absl::StripSuffix(value, "%"), &o.probe_budget) || o.probe_budget < 1 ||
      o.probe_budget > 100) {
    return Invalid(absl::StrCat("'", value,
                                "' is not a percentage from 1 to 100 of one processor, such as "
                                "20%; 100%: no limit"));
  }
  return absl::OkStatus();
}
Values DescribeProbeBudget(const Options& o) {
  return NoneIf(o.probe_budget == Options().probe_budget, absl::StrCat(o.probe_budget, "%"));
}

// Clocks and metrics would charge threads with what happened while the probes rested.
absl::Status CheckResting(Options& o) {
  if (!o.probes_rest) return absl::OkStatus();
  if (o.action != Action::kServe) {
    return Invalid(
        "resting is for a JVM that serves: -agentpath:…/libjtrace.so=serve,probes=resting");
  }
  const absl::string_view more = o.WantsCalls() ? MoreThanCalls(o) : "mode=samples";
  if (more.empty()) return absl::OkStatus();
  return Invalid(absl::StrCat("resting ones count calls alone; leave ", more, " to jtrace start"));
}

// Call trees: memory=, prune=, pruneexit=, maxdepth=

absl::Status ParseMemory(absl::string_view value, Options& o) {
  constexpr uint64_t kMinMemory = 16ull << 20;
  constexpr uint64_t kMaxMemory = 64ull << 30;
  if (absl::Status status = ParseBytes(value, o.memory_bytes); !status.ok()) return status;
  if (o.memory_bytes < kMinMemory || o.memory_bytes > kMaxMemory) {
    return Invalid(absl::StrCat("'", value, "' is outside 16m to 64g"));
  }
  return absl::OkStatus();
}
Values DescribeMemory(const Options& o) {
  constexpr uint64_t kMegabyte = 1 << 20;
  return NoneIf(o.memory_bytes == 0, o.memory_bytes % kMegabyte == 0
                                         ? absl::StrCat(o.memory_bytes / kMegabyte, "m")
                                         : FormatBytes(o.memory_bytes));
}

absl::Status ParseShare(absl::string_view value, double& percent) {
  if (!absl::SimpleAtod(absl::StripSuffix(value, "%"), &percent) ||
      !(percent >= 0 && percent <= 50)) {
    return Invalid(absl::StrCat("'", value, "' is not a percentage from 0 to 50"));
  }
  return absl::OkStatus();
}

absl::Status ParsePrune(absl::string_view value, Options& o) {
  return ParseShare(value, o.prune_percent);
}
Values DescribePrune(const Options& o) {
  return NoneIf(o.prune_percent == Options().prune_percent, FormatNumber(o.prune_percent));
}

absl::Status ParsePruneExit(absl::string_view value, Options& o) {
  return ParseShare(value, o.exit_percent);
}
Values DescribePruneExit(const Options& o) {
  return NoneIf(o.exit_percent == Options().exit_percent, FormatNumber(o.exit_percent));
}
absl::Status CheckPruneExit(Options& o) {
  if (o.exit_percent == 0) return absl::OkStatus();
  if (o.clock == Clock::kNone || !HasCallPaths(o)) {
    return Invalid("compares times of paths; needs clock= and record=tree");
  }
  if (o.blocks == Blocks::kByPath) {
    return Invalid("not with blocks=paths, which keeps counters of each path; use prune=");
  }
  return absl::OkStatus();
}

absl::Status ParseMaxDepth(absl::string_view value, Options& o) {
  if (!absl::SimpleAtoi(value, &o.max_depth) || o.max_depth < 10 || o.max_depth > 60'000) {
    return Invalid(absl::StrCat("'", value, "' is not a depth from 10 to 60000"));
  }
  return absl::OkStatus();
}
Values DescribeMaxDepth(const Options& o) {
  return NoneIf(o.max_depth == Options().max_depth, absl::StrCat(o.max_depth));
}

// Chosen methods and functions: unwind=, hook=

absl::Status ParseUnwind(absl::string_view value, Options& o) {
  for (absl::string_view text : absl::StrSplit(value, ';', absl::SkipWhitespace())) {
    auto rule = ParseUnwindRule(absl::StripAsciiWhitespace(text));
    if (!rule.ok()) return rule.status();
    o.unwinds.push_back(*std::move(rule));
  }
  return o.unwinds.empty() ? Invalid("needs a method such as com.acme.Cache::load")
                           : absl::OkStatus();
}
Values DescribeUnwind(const Options& o) {
  Values values;
  for (const UnwindRule& rule : o.unwinds) values.push_back(UnwindRuleText(rule));
  return values;
}
absl::Status CheckUnwind(Options& o) {
  if (!o.WantsUnwinds()) return absl::OkStatus();
  if (!samples::kWalksStacks && o.WantsSamples()) {
    return absl::UnimplementedError("walking stacks needs x86-64");
  }
  return o.mode == Mode::kMerged ? absl::OkStatus()
                                 : Invalid("needs probes and samples; use mode=merged");
}

absl::Status CheckMethodHook(const native_hooks::HookSpec& spec) {
  if (spec.kind == native_hooks::HookKind::kTime) {
    return Invalid(absl::StrCat("'", spec.symbol,
                                "' is a Java method, whose time a clock measures: add clock=tsc, "
                                "and write :count or :unwind"));
  }
  if (spec.kind == native_hooks::HookKind::kOff) {
    return Invalid(absl::StrCat("'", spec.symbol, ":off' removes nothing at the start"));
  }
  return classfile::ScopeFilter::Create(std::vector<std::string>{spec.symbol}, {}).status();
}

absl::Status ParseHook(absl::string_view value, Options& o) {
  auto specs = native_hooks::ParseHookSpecs(value);
  if (!specs.ok()) return specs.status();
  for (native_hooks::HookSpec& spec : *specs) {
    if (!spec.IsMethod()) {
      o.hooks.push_back(std::move(spec));
      continue;
    }
    if (absl::Status status = CheckMethodHook(spec); !status.ok()) return status;
    o.method_hooks.push_back(std::move(spec));
  }
  return absl::OkStatus();
}
Values DescribeHook(const Options& o) {
  Values values;
  for (const auto* specs : {&o.hooks, &o.method_hooks}) {
    for (const native_hooks::HookSpec& spec : *specs) {
      values.push_back(native_hooks::HookSpecText(spec));
    }
  }
  return values;
}
absl::Status CheckHook(Options& o) {
  if (!o.method_hooks.empty() && !o.WantsCalls()) {
    return Invalid("counts of Java methods need probes; use mode=merged or events");
  }
  if (!o.hooks.empty() && !o.WantsSamples()) {
    return Invalid("needs sampled threads; use mode=merged or samples");
  }
  return absl::OkStatus();
}

// More than calls: metrics=, boundary=, blocks=, sites=, costs=, codes=

absl::Status ParseMetrics(absl::string_view value, Options& o) {
  return ParseMetricNames(value, o.metrics);
}
Values DescribeMetrics(const Options& o) { return Joined(o.metrics); }
// Whether other options let the metrics be counted.
absl::Status CheckMetrics(Options& o) {
  if (const absl::string_view name = MetricOfObjects(o.metrics);
      !name.empty() && o.codes.Has(Code::kAllocation)) {
    return Invalid(absl::StrCat(name,
                                " looks at every object, and codes=+0x70 samples some; leave one "
                                "of them out"));
  }
  if (CountsAllocationSites(o.metrics) && !HasCallPaths(o)) {
    return Invalid("alloc.sites needs record=tree and mode=merged or events");
  }
  if (const absl::string_view name = MetricOfAllThreads(o.metrics);
      !name.empty() && !HasCallPaths(o)) {
    return Invalid(absl::StrCat(name, " needs record=tree and mode=merged or events"));
  }
  if (const absl::string_view name = MetricOfBoundaryCalls(o.metrics);
      !name.empty() && !(o.boundary_costs && HasCallPaths(o))) {
    return Invalid(
        absl::StrCat(name, " needs boundary=costs, record=tree and mode=merged or events"));
  }
  return absl::OkStatus();
}

absl::Status ParseBoundary(absl::string_view value, Options& o) {
  BoundaryWord word = BoundaryWord::kOff;
  if (absl::Status status = ParseWord(value, kBoundaries, word); !status.ok()) return status;
  o.boundary_costs = word == BoundaryWord::kCosts;
  return o.codes.Apply(word == BoundaryWord::kOff ? "-boundary" : "+boundary");
}
Values DescribeBoundary(const Options& o) {
  return NoneIf(!o.CountsBoundaryCalls(), o.boundary_costs ? "costs" : "on");
}

absl::Status CheckBlocks(Options& o) {
  if (o.blocks == Blocks::kOff) return absl::OkStatus();
  if (o.blocks == Blocks::kByPath && o.record == RecordKind::kFlat) {
    return Invalid("record=flat has no call paths; use record=tree, or blocks=on");
  }
  if (!o.WantsCalls() || o.record == RecordKind::kLog) {
    return Invalid("needs probes and counts: mode=merged or events, record=tree or flat");
  }
  const bool all_calls = o.codes.Has(Code::kInterpreted) && o.codes.Has(Code::kJitted);
  if (o.record == RecordKind::kTree && !all_calls) {
    return Invalid(
        "counts of lines begin with those of calls, of both kinds; leave 0x30 and 0x50 on, or use "
        "record=flat");
  }
  return absl::OkStatus();
}

absl::Status CheckSites(Options& o) {
  if (!o.sites) return absl::OkStatus();
  if (!HasCallPaths(o)) return Invalid("needs call trees: mode=merged or events, record=tree");
  if (o.blocks == Blocks::kByPath) {
    return Invalid("not with blocks=paths, which has lines of its own; use blocks=on");
  }
  return absl::OkStatus();
}

absl::Status ParseCosts(absl::string_view value, Options& o) {
  const auto text = ReadTextFile(value);
  if (!text.ok()) return text.status();
  const auto costs = CallCosts::WithRules(*text);
  if (!costs.ok()) return Invalid(absl::StrCat(value, ": ", costs.status().message()));
  absl::StrAppend(&o.call_costs, *text, "\n");
  o.call_cost_files.emplace_back(value);
  return absl::OkStatus();
}
Values DescribeCosts(const Options& o) { return o.call_cost_files; }

absl::Status ParseCodes(absl::string_view value, Options& o) {
  if (absl::Status status = o.codes.Apply(value); !status.ok()) return status;
  if (!o.CountsBoundaryCalls()) o.boundary_costs = false;
  return absl::OkStatus();
}
Values DescribeCodes(const Options& o) {
  const std::string codes = ChangedCodes(o);
  return NoneIf(codes.empty(), codes);
}

// The end of a recording, and its files: duration=, samples=, loop=, keep=, out=

absl::Status ParseDurationOption(absl::string_view value, Options& o) {
  if (ParseSeconds(value, o.duration)) return absl::OkStatus();
  return Invalid(absl::StrCat("'", value, "' is not a time such as 30s or 10m"));
}
Values DescribeDuration(const Options& o) {
  return NoneIf(o.duration == absl::InfiniteDuration(), absl::FormatDuration(o.duration));
}

absl::Status ParseSamples(absl::string_view value, Options& o) {
  if (absl::SimpleAtoi(value, &o.max_samples) && o.max_samples > 0) return absl::OkStatus();
  return Invalid(absl::StrCat("'", value, "' is not a number of samples such as 10000"));
}
Values DescribeSamples(const Options& o) {
  return NoneIf(o.max_samples == 0, absl::StrCat(o.max_samples));
}
absl::Status CheckSamples(Options& o) {
  if (o.max_samples == 0 || o.WantsSamples()) return absl::OkStatus();
  return Invalid("needs samples; use mode=merged or samples");
}

absl::Status ParseLoop(absl::string_view value, Options& o) { return ParseLoop(value, o.loop); }
Values DescribeLoop(const Options& o) { return DescribeLoop(o.loop); }

absl::Status ParseKeep(absl::string_view value, Options& o) { return ParseKeep(value, o.keep); }
Values DescribeKeep(const Options& o) { return DescribeKeep(o.keep); }
absl::Status CheckKeep(Options& o) { return CheckKeep(o.loop, o.keep); }

absl::Status ParseOut(absl::string_view value, Options& o) {
  if (value.empty()) return Invalid("needs a file name");
  o.out = std::string(value);
  return absl::OkStatus();
}

// The agent itself: signal=, log=, help, version

absl::Status ParseSignal(absl::string_view value, Options& o) {
  int number = 0;
  if (!absl::SimpleAtoi(value, &number) || number < 1 || number >= 32) {
    return Invalid(absl::StrCat("'", value,
                                "' is not a signal number from 1 to 31 (real-time signals can "
                                "kill the program when their queue is full)"));
  }
  constexpr std::array kUsable = {SIGPROF, SIGVTALRM, SIGURG, SIGIO, SIGUSR1, SIGALRM, SIGWINCH};
  if (std::find(kUsable.begin(), kUsable.end(), number) == kUsable.end()) {
    return Invalid(absl::StrCat("signal ", number,
                                " is used by the JVM or the kernel; try 27 (SIGPROF), 26 "
                                "(SIGVTALRM) or 23 (SIGURG)"));
  }
  o.signal = number;
  return absl::OkStatus();
}
Values DescribeSignal(const Options& o) { return NoneIf(o.signal == 0, absl::StrCat(o.signal)); }

absl::Status ParseLog(absl::string_view value, Options& o) {
  if (value == "stderr") {
    o.log = LogTarget::kStderr;
  } else if (value == "none") {
    o.log = LogTarget::kNone;
  } else if (value.empty()) {
    return Invalid("needs stderr, none or a file name");
  } else {
    o.log = LogTarget::kFile;
    o.log_file = std::string(value);
  }
  return absl::OkStatus();
}

absl::Status ParseHelp(absl::string_view, Options& o) {
  o.help = true;
  return absl::OkStatus();
}
absl::Status ParseVersion(absl::string_view, Options& o) {
  o.version = true;
  return absl::OkStatus();
}

constexpr OptionEntry kOptions[] = {
    {.name = "mode",
     .value = "merged|events|samples",
     .help = "what to record: exact calls, timer samples, or both (merged)",
     .initial = "`merged`",
     .example = "mode=samples",
     .parse = ParseField<&Options::mode, kModes>,
     .describe = DescribeMode,
     .finish = ApplyCodesToMode},
    {.name = "record",
     .value = "tree|flat|log",
     .help = "calls by call path (tree), by method only (flat, cheaper), or one by one (log)",
     .initial = "`tree`",
     .example = "record=flat",
     .parse = ParseField<&Options::record, kRecords>,
     .describe = DescribeRecord},
    {.name = "clock",
     .value = "none|coarse|tsc|cpu",
     .help = "read at entry and exit: nothing, a 1 ms tick, ns, or ns less waiting",
     .initial = "`none`",
     .example = "clock=tsc",
     .parse = ParseField<&Options::clock, kClocks>,
     .describe = DescribeField<&Options::clock, kClocks>,
     .finish = CheckClock},
    {.name = "logbudget",
     .value = "SIZE",
     .help = "record=log: continue as record=tree when the trace has this size (2g)",
     .initial = "none",
     .example = "record=log,logbudget=2g",
     .parse = ParseLogBudget,
     .describe = DescribeLogBudget},
    {.name = "overflow",
     .value = "gap|wait",
     .help = "record=log: where the log has no room, count in the tree (gap), or let the thread "
             "wait",
     .initial = "`gap`",
     .example = "record=log,overflow=wait",
     .parse = ParseField<&Options::log_waits, kOverflows>,
     .describe = DescribeField<&Options::log_waits, kOverflows>,
     .finish = CheckOverflow},
    {.name = "interval",
     .value = "1ms|COUNT",
     .help = "between two samples: time (1ms; wall: 10ms), or events of timer=perf:EVENT",
     .initial = "`1ms`; `10ms` for `timer=wall`",
     .example = "interval=2ms",
     .parse = ParseInterval,
     .describe = DescribeInterval,
     .finish = FinishInterval},
    {.name = "timer",
     .value = "cpu|wall|perf:EVENT",
     .help = "what drives the samples: each thread's CPU time, real time, an event: see below",
     .initial = "`cpu`",
     .example = "timer=wall",
     .parse = ParseTimer,
     .describe = DescribeTimer},
    {.name = "jitter",
     .value = "on|off",
     .help = "sample at a random moment of each interval (on, except for POSIX timers)",
     .initial = "`on`; `off` for POSIX timers",
     .example = "jitter=on",
     .parse = ParseJitter,
     .describe = DescribeJitter,
     .finish = CheckJitter},
    {.name = "stack",
     .value = "full|app|frame|appframe|pc",
     .help = "how much of the stack a sample records: see below",
     .initial = "`full`",
     .example = "stack=app",
     .parse = ParseStack,
     .describe = DescribeStack,
     .finish = CheckStack},
    {.name = "threads",
     .value = "NAME[;…]",
     .help = "sample only these threads, by name when they start: main;worker-*",
     .initial = "all",
     .example = "threads=main;pool-*",
     .parse = ParseThreads,
     .describe = DescribeThreads},
    {.name = "out",
     .value = "FILE",
     .help = "trace file (trace.bin); %p pid, %t time, %n number, %{ENV} variable",
     .initial = "`trace.bin`",
     .example = "out=/tmp/%p.bin",
     .parse = ParseOut},
    {.name = "include",
     .value = "PATTERN[;…]",
     .help = "count only these: pkg.**, pkg.Class, Class::method, *; jtrace start: own",
     .initial = "all but the JDK",
     .example = "include=com.acme.**;org.h2.**",
     .parse = ParseInclude,
     .describe = DescribeInclude},
    {.name = "exclude",
     .value = "PATTERN[;…]",
     .help = "do not count these (default: the JDK)",
     .initial = "the JDK",
     .example = "exclude=com.acme.Hot::*",
     .parse = ParseExclude,
     .describe = DescribeExclude},
    {.name = "probebudget",
     .value = "20%",
     .help = "jtrace start: most of one processor that putting probes in and out takes",
     .initial = "`20%`",
     .example = "probebudget=100%",
     .parse = ParseProbeBudget,
     .describe = DescribeProbeBudget},
    {.name = "probes",
     .value = "atstart|resting",
     .help = "serve: put probes in at jtrace start, or as classes are loaded, resting until then",
     .initial = "`atstart`",
     .example = "serve,probes=resting",
     .parse = ParseField<&Options::probes_rest, kProbes>,
     .describe = DescribeField<&Options::probes_rest, kProbes>,
     .finish = CheckResting},
    {.name = "compilers",
     .value = "first|asis",
     .help = "jtrace start: the JVM's compilers get processor time first while probes go in and "
             "out",
     .initial = "`first`",
     .example = "compilers=asis",
     .parse = ParseField<&Options::compilers_first, kCompilers>,
     .describe = DescribeField<&Options::compilers_first, kCompilers>},
    {.name = "memory",
     .value = "SIZE",
     .help = "memory for call trees (by free memory); paths without room: [pruned]",
     .initial = "by what is free, 64 MB to 1 GB",
     .example = "memory=512m",
     .parse = ParseMemory,
     .describe = DescribeMemory},
    {.name = "prune",
     .value = "1",
     .help = "if memory is short, drop paths below this percent of their caller",
     .initial = "`1`",
     .example = "prune=0.5",
     .parse = ParsePrune,
     .describe = DescribePrune},
    {.name = "pruneexit",
     .value = "1",
     .help = "the same when a call ends, by time: needs a clock (0: no such test)",
     .initial = "`0`",
     .example = "pruneexit=1,clock=tsc",
     .parse = ParsePruneExit,
     .describe = DescribePruneExit,
     .finish = CheckPruneExit},
    {.name = "maxdepth",
     .value = "1000",
     .help = "levels of a call tree; deeper recursion is folded",
     .initial = "`1000`",
     .example = "maxdepth=5000",
     .parse = ParseMaxDepth,
     .describe = DescribeMaxDepth},
    {.name = "unwind",
     .value = "METHOD[:every=N][;…]",
     .help = "walk the stack at (every Nth) entry of these: com.acme.Cache::load:every=100",
     .initial = "none",
     .example = "unwind=com.acme.Cache::load:every=100",
     .parse = ParseUnwind,
     .describe = DescribeUnwind,
     .finish = CheckUnwind},
    {.name = "hook",
     .value = "OBJECT!FUNCTION[:KIND][;…]",
     .help =
         "count calls of native functions, unwind or time them: libc.so.6!malloc:count; of Java "
         "methods, count or unwind: com.acme.Cache::load",
     .initial = "none",
     .example = "hook=libc.so.6!malloc:count",
     .parse = ParseHook,
     .describe = DescribeHook,
     .finish = CheckHook},
    {.name = "metrics",
     .value = "alloc.bytes[;…]",
     .help = "what else to record by call path or thread: see below",
     .initial = "none",
     .example = "metrics=alloc.bytes;exceptions",
     .parse = ParseMetrics,
     .describe = DescribeMetrics,
     .finish = CheckMetrics},
    {.name = "boundary",
     .value = "on|costs|off",
     .help = "count calls that leave the scope, and native methods, as separate nodes; costs: "
             "measure them, too (off)",
     .initial = "`off`",
     .example = "boundary=costs",
     .parse = ParseBoundary,
     .describe = DescribeBoundary},
    {.name = "blocks",
     .value = "on|paths|off",
     .help = "count each line and branch, with paths by call path; record=tree or flat (off)",
     .initial = "`off`",
     .example = "mode=events,record=flat,blocks=on",
     .parse = ParseField<&Options::blocks, kBlocks>,
     .describe = DescribeField<&Options::blocks, kBlocks>,
     .finish = CheckBlocks},
    {.name = "sites",
     .value = "on|off",
     .help = "distinguish calls by the line that makes them, too; record=tree (off)",
     .initial = "`off`",
     .example = "mode=events,sites=on",
     .parse = ParseField<&Options::sites, kSwitch>,
     .describe = DescribeField<&Options::sites, kSwitch>,
     .finish = CheckSites},
    {.name = "costs",
     .value = "FILE",
     .help = "file with more rules: what such calls depend on and cost, which to leave out",
     .initial = "the agent's own rules",
     .example = "boundary=costs,costs=calls.txt",
     .parse = ParseCosts,
     .describe = DescribeCosts},
    {.name = "codes",
     .value = "+0x61;-0x20/0x1;-jit[;…]",
     .help = "switch kinds of records on or off, by major, major/minor or name: see below",
     .initial = "see the codes below",
     .example = "codes=+monitor;-0x51/0x2",
     .parse = ParseCodes,
     .describe = DescribeCodes,
     .finish = CheckCodes},
    {.name = "duration",
     .value = "30s",
     .help = "stop recording after this time; jtrace start: from when all probes are in",
     .initial = "none",
     .example = "duration=30s",
     .parse = ParseDurationOption,
     .describe = DescribeDuration},
    {.name = "samples",
     .value = "10000",
     .help = "stop recording after this many samples, or shortly after",
     .initial = "none",
     .example = "samples=10000",
     .parse = ParseSamples,
     .describe = DescribeSamples,
     .finish = CheckSamples},
    {.name = "loop",
     .value = "1h|100MB",
     .help = "continue in a new file after this time or size; out= gets .%n if it has no %n",
     .initial = "none",
     .example = "loop=1h,out=/tmp/%p.%n.bin",
     .parse = ParseLoop,
     .describe = DescribeLoop},
    {.name = "keep",
     .value = "1GB|60",
     .help = "loop=: remove the oldest ended files beyond this size or number",
     .initial = "all",
     .example = "loop=1m,keep=1GB",
     .parse = ParseKeep,
     .describe = DescribeKeep,
     .finish = CheckKeep},
    {.name = "control",
     .value = "on|off",
     .help = "whether the jtrace command can reach this JVM (on)",
     .initial = "`on`",
     .example = "control=off",
     .parse = ParseField<&Options::control, kSwitch>},
    {.name = "signal",
     .value = "NUMBER",
     .help = "signal of the timer (27, SIGPROF)",
     .initial = "`27`",
     .example = "signal=26",
     .parse = ParseSignal,
     .describe = DescribeSignal},
    {.name = "log",
     .value = "stderr|FILE|none",
     .help = "where the agent's own two lines go",
     .initial = "`stderr`",
     .example = "log=none",
     .parse = ParseLog},
    {.name = "config",
     .value = "FILE",
     .help = "more options, one a line; # starts a comment",
     .initial = "none",
     .example = "config=jtrace.conf",
     .parse = ParseConfig},
    {.name = "help", .help = "print this table and exit", .example = "help", .parse = ParseHelp},
    {.name = "version",
     .help = "print the version and exit",
     .example = "version",
     .parse = ParseVersion},
};

}  // namespace

absl::Span<const OptionEntry> OptionTable() { return kOptions; }

absl::string_view StackName(samples::StackMode stack) { return WordFor(stack, kStacks); }

absl::string_view ModeName(Mode mode) { return WordFor(mode, kModes); }

absl::string_view RecordName(RecordKind record) { return WordFor(record, kRecords); }

absl::string_view ClockName(Clock clock) { return WordFor(clock, kClocks); }

}  // namespace jtrace
