#include "agent/options/option_table.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "agent/base/own_file.h"
#include "agent/native_hooks/cpp_name.h"
#include "agent/options/call_costs.h"
#include "agent/options/file_options.h"
#include "agent/options/metric_options.h"
#include "common/scope_filter.h"

namespace jtrace {
namespace {

constexpr uint64_t kLeastMemory = 16ull << 20;
constexpr uint64_t kMostMemory = 64ull << 30;

absl::Status Invalid(absl::string_view message) { return absl::InvalidArgumentError(message); }

absl::Status ParseMode(absl::string_view value, Options& o) {
  return ParseWord(value, kModes, o.mode);
}
absl::Status ParseRecord(absl::string_view value, Options& o) {
  return ParseWord(value, kRecords, o.record);
}
absl::Status ParseClock(absl::string_view value, Options& o) {
  return ParseWord(value, kClocks, o.clock);
}
absl::Status ParseLogBudget(absl::string_view value, Options& o) {
  return ParseBytes(value, o.log_budget);
}
absl::Status ParseOverflow(absl::string_view value, Options& o) {
  return ParseWord(value, kOverflows, o.log_waits);
}
absl::Status ParseTimer(absl::string_view value, Options& o) {
  return ParseTimer(value, o.samples);
}
absl::Status ParseStack(absl::string_view value, Options& o) {
  return ParseWord(value, kStacks, o.samples.stack);
}
// Its meaning depends on timer=, which may follow.
absl::Status ParseInterval(absl::string_view value, Options& o) {
  if (value.empty()) return Invalid("needs a time such as 1ms, or a number of events");
  o.samples.interval_text = std::string(value);
  return absl::OkStatus();
}
absl::Status ParseJitter(absl::string_view value, Options& o) {
  return ParseWord(value, kSwitch, o.samples.jitter.emplace());
}
absl::Status ParseThreads(absl::string_view value, Options& o) {
  for (absl::string_view glob : absl::StrSplit(value, ';', absl::SkipWhitespace())) {
    o.samples.threads.emplace_back(absl::StripAsciiWhitespace(glob));
  }
  return o.samples.threads.empty() ? Invalid("needs a thread's name such as worker-*")
                                   : absl::OkStatus();
}

absl::Status ParseMetrics(absl::string_view value, Options& o) {
  return ParseMetricNames(value, o.metrics);
}

absl::Status ParseOut(absl::string_view value, Options& o) {
  if (value.empty()) return Invalid("needs a file name");
  o.out = std::string(value);
  return absl::OkStatus();
}

absl::Status AppendPatterns(absl::string_view value, std::vector<std::string>& list) {
  for (absl::string_view pattern : absl::StrSplit(value, ';', absl::SkipWhitespace())) {
    list.emplace_back(absl::StripAsciiWhitespace(pattern));
  }
  return list.empty() ? Invalid("needs a pattern such as com.acme.**") : absl::OkStatus();
}
absl::Status ParseInclude(absl::string_view value, Options& o) {
  if (absl::Status status = AppendPatterns(value, o.include); !status.ok()) return status;
  if (std::erase(o.include, "own") > 0) o.includes_own = true;
  return classfile::ScopeFilter::Create(o.include, {}).status();
}
absl::Status ParseExclude(absl::string_view value, Options& o) {
  if (absl::Status status = AppendPatterns(value, o.exclude); !status.ok()) return status;
  return classfile::ScopeFilter::Create({}, o.exclude).status();
}

absl::Status ParseUnwind(absl::string_view value, Options& o) {
  for (absl::string_view text : absl::StrSplit(value, ';', absl::SkipWhitespace())) {
    auto rule = ParseUnwindRule(absl::StripAsciiWhitespace(text));
    if (!rule.ok()) return rule.status();
    o.unwinds.push_back(*std::move(rule));
  }
  return o.unwinds.empty() ? Invalid("needs a method such as com.acme.Cache::load")
                           : absl::OkStatus();
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
    if (spec.kind == native_hooks::HookKind::kUnwind) o.unwinds.push_back({spec.symbol, 1});
    o.method_hooks.push_back(std::move(spec));
  }
  return absl::OkStatus();
}

absl::Status ParseCodes(absl::string_view value, Options& o) {
  if (absl::Status status = o.codes.Apply(value); !status.ok()) return status;
  o.boundary = o.codes.Has(Code::kBoundary);
  return absl::OkStatus();
}

absl::Status ParseBoundary(absl::string_view value, Options& o) {
  BoundaryWord word = BoundaryWord::kOff;
  if (absl::Status status = ParseWord(value, kBoundaries, word); !status.ok()) return status;
  o.boundary = word != BoundaryWord::kOff;
  o.boundary_costs = word == BoundaryWord::kCosts;
  return o.codes.Apply(o.boundary ? "+boundary" : "-boundary");
}

absl::Status ParseBlocks(absl::string_view value, Options& o) {
  return ParseWord(value, kBlocks, o.blocks);
}

absl::Status ParseSites(absl::string_view value, Options& o) {
  return ParseWord(value, kSwitch, o.sites);
}

absl::Status ParseCosts(absl::string_view value, Options& o) {
  const auto text = ReadTextFile(value);
  if (!text.ok()) return text.status();
  const auto costs = CallCosts::WithRules(*text);
  if (!costs.ok()) return Invalid(absl::StrCat(value, ": ", costs.status().message()));
  absl::StrAppend(&o.call_costs, *text, "\n");
  return absl::OkStatus();
}

absl::Status ParseMemory(absl::string_view value, Options& o) {
  absl::string_view digits = value;
  const int shift = absl::ConsumeSuffix(&digits, "g") || absl::ConsumeSuffix(&digits, "G")   ? 30
                    : absl::ConsumeSuffix(&digits, "m") || absl::ConsumeSuffix(&digits, "M") ? 20
                    : absl::ConsumeSuffix(&digits, "k") || absl::ConsumeSuffix(&digits, "K") ? 10
                                                                                             : 0;
  uint64_t number = 0;
  if (!absl::SimpleAtoi(digits, &number) || number > (uint64_t{1} << 40) >> shift) {
    return Invalid(absl::StrCat("'", value, "' is not a size such as 64m or 1g"));
  }
  o.memory_bytes = number << shift;
  if (o.memory_bytes < kLeastMemory || o.memory_bytes > kMostMemory) {
    return Invalid(absl::StrCat("'", value, "' is outside 16m to 64g"));
  }
  return absl::OkStatus();
}

absl::Status ParseProbeBudget(absl::string_view value, Options& o) {
  if (!absl::SimpleAtoi(absl::StripSuffix(value, "%"), &o.probe_budget) || o.probe_budget < 1 ||
      o.probe_budget > 100) {
    return Invalid(absl::StrCat("'", value,
                                "' is not a percentage from 1 to 100 of one processor, such as "
                                "20%; 100%: no limit"));
  }
  return absl::OkStatus();
}

absl::Status ParseProbes(absl::string_view value, Options& o) {
  return ParseWord(value, kProbes, o.probes_rest);
}

absl::Status ParseCompilers(absl::string_view value, Options& o) {
  return ParseWord(value, kCompilers, o.compilers_first);
}

absl::Status ParsePruneShare(absl::string_view value, double& percent) {
  if (!absl::SimpleAtod(absl::StripSuffix(value, "%"), &percent) ||
      !(percent >= 0 && percent <= 50)) {
    return Invalid(absl::StrCat("'", value, "' is not a percentage from 0 to 50"));
  }
  return absl::OkStatus();
}

absl::Status ParsePrune(absl::string_view value, Options& o) {
  return ParsePruneShare(value, o.prune_percent);
}

absl::Status ParsePruneExit(absl::string_view value, Options& o) {
  return ParsePruneShare(value, o.exit_percent);
}

absl::Status ParseMaxDepth(absl::string_view value, Options& o) {
  if (!absl::SimpleAtoi(value, &o.max_depth) || o.max_depth < 10 || o.max_depth > 60'000) {
    return Invalid(absl::StrCat("'", value, "' is not a depth from 10 to 60000"));
  }
  return absl::OkStatus();
}

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

absl::Status ParseDurationOption(absl::string_view value, Options& o) {
  if (ParseSeconds(value, o.duration)) return absl::OkStatus();
  return Invalid(absl::StrCat("'", value, "' is not a time such as 30s or 10m"));
}

absl::Status ParseSamples(absl::string_view value, Options& o) {
  if (absl::SimpleAtoi(value, &o.most_samples) && o.most_samples > 0) return absl::OkStatus();
  return Invalid(absl::StrCat("'", value, "' is not a number of samples such as 10000"));
}

absl::Status ParseLoop(absl::string_view value, Options& o) { return ParseLoop(value, o.loop); }
absl::Status ParseKeep(absl::string_view value, Options& o) { return ParseKeep(value, o.keep); }

absl::Status ParseControl(absl::string_view value, Options& o) {
  return ParseWord(value, kSwitch, o.control);
}

absl::Status ParseHelp(absl::string_view, Options& o) {
  o.help = true;
  return absl::OkStatus();
}
absl::Status ParseVersion(absl::string_view, Options& o) {
  o.version = true;
  return absl::OkStatus();
}

constexpr std::array kOptions = {
    OptionRow{"mode", "merged|events|samples", ParseMode,
              "what to record: exact calls, timer samples, or both (merged)"},
    OptionRow{"record", "tree|flat|log", ParseRecord,
              "calls by call path (tree), by method only (flat, cheaper), or one by one (log)"},
    OptionRow{"clock", "none|coarse|tsc|cpu", ParseClock,
              "read at entry and exit: nothing, a 1 ms tick, ns, or ns less waiting"},
    OptionRow{"logbudget", "SIZE", ParseLogBudget,
              "record=log: continue as record=tree when the trace has this size (2g)"},
    OptionRow{
        "overflow", "gap|wait", ParseOverflow,
        "record=log: where the log has no room, count in the tree (gap), or let the thread wait"},
    OptionRow{"interval", "1ms|COUNT", ParseInterval,
              "between two samples: time (1ms; wall: 10ms), or events of timer=perf:EVENT"},
    OptionRow{"timer", "cpu|wall|perf:EVENT", ParseTimer,
              "what drives the samples: each thread's CPU time, real time, an event: see below"},
    OptionRow{"jitter", "on|off", ParseJitter,
              "sample at a random moment of each interval (on, except for POSIX timers)"},
    OptionRow{"stack", "full|app|frame|appframe|pc", ParseStack,
              "how much of the stack a sample records: see below"},
    OptionRow{"threads", "NAME[;…]", ParseThreads,
              "sample only these threads, by name when they start: main;worker-*"},
    OptionRow{"out", "FILE", ParseOut,
              "trace file (trace.bin); %p pid, %t time, %n number, %{ENV} variable"},
    OptionRow{"include", "PATTERN[;…]", ParseInclude,
              "count only these: pkg.**, pkg.Class, Class::method, *; jtrace start: own"},
    OptionRow{"exclude", "PATTERN[;…]", ParseExclude, "do not count these (default: the JDK)"},
    OptionRow{"probebudget", "20%", ParseProbeBudget,
              "jtrace start: most of one processor that putting probes in and out takes"},
    OptionRow{"probes", "atstart|resting", ParseProbes,
              "serve: put probes in at jtrace start, or as classes are loaded, resting until then"},
    OptionRow{
        "compilers", "first|asis", ParseCompilers,
        "jtrace start: the JVM's compilers get processor time first while probes go in and out"},
    OptionRow{"memory", "SIZE", ParseMemory,
              "memory for call trees (by free memory); paths without room: [pruned]"},
    OptionRow{"prune", "1", ParsePrune,
              "if memory is short, drop paths below this percent of their caller"},
    OptionRow{"pruneexit", "1", ParsePruneExit,
              "the same when a call ends, by time: needs a clock (0: no such test)"},
    OptionRow{"maxdepth", "1000", ParseMaxDepth,
              "levels of a call tree; deeper recursion is folded"},
    OptionRow{"unwind", "METHOD[:every=N][;…]", ParseUnwind,
              "walk the stack at (every Nth) entry of these: com.acme.Cache::load:every=100"},
    OptionRow{
        "hook", "OBJECT!FUNCTION[:KIND][;…]", ParseHook,
        "count calls of native functions, unwind or time them: libc.so.6!malloc:count; of Java "
        "methods, count or unwind: com.acme.Cache::load"},
    OptionRow{"metrics", "alloc.bytes[;…]", ParseMetrics,
              "what else to record by call path or thread: see below"},
    OptionRow{"boundary", "on|costs|off", ParseBoundary,
              "count calls that leave the scope, and native methods, as separate nodes; costs: "
              "measure them, too (off)"},
    OptionRow{"blocks", "on|paths|off", ParseBlocks,
              "count each line and branch, with paths by call path; record=tree or flat (off)"},
    OptionRow{"sites", "on|off", ParseSites,
              "distinguish calls by the line that makes them, too; record=tree (off)"},
    OptionRow{"costs", "FILE", ParseCosts,
              "file with more rules: what such calls depend on and cost, which to leave out"},
    OptionRow{"codes", "+0x61;-0x20/0x1;-jit[;…]", ParseCodes,
              "switch kinds of records on or off, by major, major/minor or name: see below"},
    OptionRow{"duration", "30s", ParseDurationOption,
              "stop recording after this time; jtrace start: from when all probes are in"},
    OptionRow{"samples", "10000", ParseSamples,
              "stop recording after this many samples, or shortly after"},
    OptionRow{"loop", "1h|100MB", ParseLoop,
              "continue in a new file after this time or size; out= gets .%n if it has no %n"},
    OptionRow{"keep", "1GB|60", ParseKeep,
              "loop=: remove the oldest ended files beyond this size or number"},
    OptionRow{"control", "on|off", ParseControl,
              "whether the jtrace command can reach this JVM (on)"},
    OptionRow{"signal", "NUMBER", ParseSignal, "signal of the timer (27, SIGPROF)"},
    OptionRow{"log", "stderr|FILE|none", ParseLog, "where the agent's own two lines go"},
    OptionRow{"config", "FILE", ParseConfig, "more options, one a line; # starts a comment"},
    OptionRow{"help", "", ParseHelp, "print this table and exit"},
    OptionRow{"version", "", ParseVersion, "print the version and exit"},
};

using NameTest = absl::FunctionRef<bool(absl::string_view)>;

absl::string_view ItemName(absl::string_view item) {
  const size_t equals = item.find('=');
  if (equals == absl::string_view::npos) return "";
  return absl::StripAsciiWhitespace(item.substr(0, equals));
}

// The end of the value of hook= at the beginning of `text`.
size_t EndOfHook(absl::string_view text, NameTest is_option) {
  size_t first_comma = text.size();
  size_t begin = 0;  // of one of several names, separated by ';'
  while (begin <= text.size()) {
    const absl::string_view name = text.substr(begin, text.find(';', begin) - begin);
    const native_hooks::Nesting nesting = native_hooks::NestingOf(name);
    for (size_t i = 0; i < name.size(); ++i) {
      if (name[i] != ',') continue;
      first_comma = std::min(first_comma, begin + i);
      if (nesting.depths[i] == 0 || is_option(ItemName(name.substr(i + 1)))) {
        const bool is_whole = native_hooks::NestingOf(name.substr(0, i)).is_balanced;
        return is_whole ? begin + i : first_comma;
      }
    }
    if (!nesting.is_balanced && first_comma != text.size()) return first_comma;
    first_comma = text.size();
    begin += name.size() + 1;
  }
  return text.size();
}

}  // namespace

absl::Span<const OptionRow> OptionTable() { return kOptions; }

absl::Status ParseBytes(absl::string_view value, uint64_t& bytes) {
  absl::string_view number = value;
  if (!absl::ConsumeSuffix(&number, "B")) absl::ConsumeSuffix(&number, "b");
  int shift = 0;
  if (absl::ConsumeSuffix(&number, "k") || absl::ConsumeSuffix(&number, "K")) shift = 10;
  if (absl::ConsumeSuffix(&number, "m") || absl::ConsumeSuffix(&number, "M")) shift = 20;
  if (absl::ConsumeSuffix(&number, "g") || absl::ConsumeSuffix(&number, "G")) shift = 30;
  uint64_t count = 0;
  if (!absl::SimpleAtoi(number, &count) || count == 0 || count > (uint64_t{1} << 40) >> shift) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", value, "' is not a size such as 500m or 2g"));
  }
  bytes = count << shift;
  return absl::OkStatus();
}

std::string FormatBytes(uint64_t bytes) {
  int shift = 0;
  for (; shift < 30 && bytes >> shift != 0 && (bytes >> shift) % 1024 == 0;) shift += 10;
  constexpr absl::string_view kUnits[] = {"", "kB", "MB", "GB"};
  return absl::StrCat(bytes >> shift, kUnits[shift / 10]);
}

bool ParseSeconds(absl::string_view value, absl::Duration& time) {
  int64_t seconds = 0;
  absl::Duration parsed;
  if (absl::SimpleAtoi(value, &seconds)) {
    parsed = absl::Seconds(seconds);
  } else if (!absl::ParseDuration(value, &parsed)) {
    return false;
  }
  if (parsed <= absl::ZeroDuration()) return false;
  time = parsed;
  return true;
}

absl::StatusOr<std::string> ReadTextFile(absl::string_view path) {
  const auto fail = [&](absl::string_view why) {
    return absl::InvalidArgumentError(absl::StrCat("cannot read '", path, "': ", why));
  };
  // A pipe without a writer must not block the program's start.
  const OwnFd file(open(std::string(path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.ok()) return fail(strerror(errno));
  struct stat status;
  if (fstat(file.get(), &status) != 0) return fail(strerror(errno));
  if (S_ISDIR(status.st_mode)) return fail("it is a folder");
  if (!S_ISREG(status.st_mode)) return fail("it is a device or a pipe; name a file");
  constexpr size_t kMostBytes = 1 << 20;
  std::string text(kMostBytes + 1, '\0');
  size_t size = 0;
  for (ssize_t count = 1; count != 0 && size < text.size();) {
    count = read(file.get(), text.data() + size, text.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(strerror(errno));
    size += static_cast<size_t>(count);
  }
  if (size > kMostBytes) return fail("it has more than 1 MB");
  text.resize(size);
  return text;
}

std::vector<absl::string_view> SplitOptions(absl::string_view text, NameTest is_option) {
  std::vector<absl::string_view> items;
  while (!text.empty()) {
    const size_t end = ItemName(text.substr(0, text.find(','))) == "hook"
                           ? EndOfHook(text, is_option)
                           : std::min(text.find(','), text.size());
    const absl::string_view item = text.substr(0, end);
    if (!absl::StripAsciiWhitespace(item).empty()) items.push_back(item);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return items;
}

}  // namespace jtrace
