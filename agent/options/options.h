// The agent's options: "mode=merged,interval=1ms,…" after -agentpath:libjtrace.so= .
//
// One table (option_table.h) has everything about an option except its field here and its use. No
// JVM, and no I/O except reading the files of config= and costs=.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "agent/base/event_code_set.h"
#include "agent/native_hooks/hook_targets.h"
#include "agent/options/file_options.h"
#include "agent/options/sample_options.h"
#include "agent/options/unwind_rules.h"

namespace jtrace {

// The action: the first word of the agent string, if it has no '='.
enum class Action { kStart, kStop, kServe };
// mode=
enum class Mode { kMerged, kEvents, kSamples };
// record=
enum class RecordKind { kTree, kFlat, kLog };
// blocks=
enum class Blocks { kOff, kByMethod, kByPath };
// clock=
enum class Clock { kNone, kCoarse, kTsc, kCpu, kManual };
// log=
enum class LogTarget { kStderr, kFile, kNone };

struct Options {
  Action action = Action::kStart;
  Mode mode = Mode::kMerged;
  RecordKind record = RecordKind::kTree;
  Clock clock = Clock::kNone;
  // Bytes of trace after which record=log continues as record=tree; 0: no limit.
  uint64_t log_budget = 0;
  // overflow=wait: threads wait for room in their logs, instead of leaving calls to the trees.
  bool log_waits = false;
  SampleOptions samples;
  // With %p (pid), %t (start time), %n (sequence number) and %{ENV} still in it.
  std::string out = "trace.bin";
  std::vector<std::string> include;
  std::vector<std::string> exclude;
  // Methods of unwind=, at whose entry the stack is walked (instrumented unwinds).
  // AllUnwinds also has those of hook=.
  std::vector<UnwindRule> unwinds;
  // hook=: native functions, and Java methods, which are in scope even if include=
  // does not name them.
  std::vector<native_hooks::HookSpec> hooks;
  std::vector<native_hooks::HookSpec> method_hooks;
  // The bytes that call trees and their data may take; 0: by the machine's memory
  // (machine_memory.h).
  uint64_t memory_bytes = 0;
  // Percent of one processor that adding probes to a running program may take, and removing them;
  // 100: no limit.
  int probe_budget = 20;
  // With `serve`: classes get their probes when they are loaded, and these count in recordings
  // whose options they fit (resting_probes.h).
  bool probes_rest = false;
  bool compilers_first = true;  // while probes go in or out, the JIT has processor time first
                                // (thread_priority_boost.h)
  // include=own, if there are no other patterns: a start chooses them
  // (calls/instrument/program_scope.h).
  bool includes_own = false;
  // When memory is short, nodes below this share of their parent are dropped (pruning); 0:
  // none.
  double prune_percent = 1;
  // The same share of the parent's time, when an activation ends; 0: no such test.
  double exit_percent = 0;
  // The levels of a call tree; deeper recursion is folded.
  uint32_t max_depth = 1000;
  // Which kinds of records are on, by the codes of events.
  EventCodeSet codes;
  // Calls that leave the scope are measured, too (costs of calls): their time and elements
  // where call paths are recorded. Only if they are counted.
  bool boundary_costs = false;
  // Counts of basic blocks, and so of lines.
  Blocks blocks = Blocks::kOff;
  // Calls distinguished by the call site in their caller, too.
  bool sites = false;
  // The files of costs=, and their text: rules for calls that leave the scope, besides jtrace's
  // own.
  std::vector<std::string> call_cost_files;
  std::string call_costs;
  // Metrics recorded besides calls, times and samples: "alloc.bytes", "user.orders".
  std::vector<std::string> metrics;
  // The timer's signal; 0: SIGPROF.
  int signal = 0;
  LogTarget log = LogTarget::kStderr;
  std::string log_file;
  // The recording ends after this time.
  absl::Duration duration = absl::InfiniteDuration();
  // The recording ends after this many samples; 0: no limit.
  uint64_t max_samples = 0;
  Loop loop;
  Keep keep;
  // Whether the `jtrace` command may reach the agent.
  bool control = true;
  bool help = false;
  bool version = false;

  bool WantsCalls() const { return mode != Mode::kSamples; }
  bool WantsSamples() const { return mode != Mode::kEvents; }
  bool HasCalls() const { return codes.Has(Code::kInterpreted) || codes.Has(Code::kJitted); }
  // Probes around calls that leave the scope (boundary calls).
  bool CountsBoundaryCalls() const { return codes.Has(Code::kBoundary); }
  // Returns the rules of unwind=, then those of hook=METHOD:unwind.
  std::vector<UnwindRule> AllUnwinds() const;
  bool WantsUnwinds() const { return !AllUnwinds().empty(); }
  // Records of compiled methods.
  bool WantsCodeRecords() const {
    return codes.Has(Code::kJitCode) || codes.Has(Code::kJitInlining);
  }
  // The JVM's stubs: samples are named by them.
  bool WantsStubs() const { return WantsSamples() || codes.Has(Code::kStub); }
  // Debug information for each instruction, so that inlined frames of samples are exact.
  bool WantsDebugInfo() const {
    return WantsSamples() &&
           !(codes.WasSwitchedOff(Code::kJitCode) && codes.WasSwitchedOff(Code::kJitInlining));
  }
  // Whether the kernel is to record thread switches. A log with clock=cpu has them anyway.
  bool WantsSwitchRecords() const {
    const bool has_them = WantsCalls() && record == RecordKind::kLog && clock == Clock::kCpu;
    return codes.WasSwitchedOn(Code::kThreadSwitch) && !has_them;
  }

  bool operator==(const Options&) const = default;
};

// Returns the first option that makes probes count more than calls: "clock="; "": none does.
absl::string_view MoreThanCalls(const Options& options);

// Returns the metrics of metrics= and of boundary=costs.
std::vector<std::string> RecordedMetrics(const Options& options);

absl::string_view StackName(samples::StackMode stack);
absl::string_view ModeName(Mode mode);
absl::string_view RecordName(RecordKind record);
absl::string_view ClockName(Clock clock);

// Parses the agent string. The error is one line that names the option, the mistake and the nearest
// valid name.
absl::StatusOr<Options> ParseOptions(absl::string_view text);

// Returns the table for people, ending in a newline; at most 100 columns wide.
std::string OptionsHelp();

// Returns the switches of codes= that are not the default, without boundary: "+contended;-jitted".
std::string ChangedCodes(const Options& options);

// What is recorded as "mode=merged,record=tree,…", for the trace and the start line. It parses back
// to the same options but for those that only say where the trace and the agent's messages go and
// who reaches the agent: out=, log=, control=.
std::string DescribeOptions(const Options& options);

}  // namespace jtrace
