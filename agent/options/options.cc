#include "agent/options/options.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "agent/native_hooks/cpp_name.h"
#include "agent/options/metric_options.h"
#include "agent/options/option_table.h"
#include "agent/options/option_values.h"
#include "common/nearest.h"

namespace jtrace {
namespace {

constexpr int kMaxConfigDepth = 8;

constexpr std::array kActions = {Word<Action>{"start", Action::kStart},
                                 Word<Action>{"stop", Action::kStop},
                                 Word<Action>{"serve", Action::kServe}};

const OptionEntry* FindOption(absl::string_view name) {
  const absl::Span<const OptionEntry> table = OptionTable();
  const auto found = std::find_if(table.begin(), table.end(),
                                  [name](const OptionEntry& entry) { return entry.name == name; });
  return found != table.end() ? found : nullptr;
}

bool IsOption(absl::string_view name) { return FindOption(name) != nullptr; }

absl::string_view ItemName(absl::string_view item) {
  const size_t equals = item.find('=');
  if (equals == absl::string_view::npos) return "";
  return absl::StripAsciiWhitespace(item.substr(0, equals));
}

// Returns where the value of hook= ends with which `text` begins.
size_t EndOfHook(absl::string_view text) {
  size_t first_comma = text.size();
  size_t begin = 0;  // of one of several names, separated by ';'
  while (begin <= text.size()) {
    const absl::string_view name = text.substr(begin, text.find(';', begin) - begin);
    const native_hooks::Nesting nesting = native_hooks::NestingOf(name);
    for (size_t i = 0; i < name.size(); ++i) {
      if (name[i] != ',') continue;
      first_comma = std::min(first_comma, begin + i);
      if (nesting.depths[i] == 0 || IsOption(ItemName(name.substr(i + 1)))) {
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

// Splits at ','; leaves out empty options. In the value of hook=, a ',' within the brackets of a
// function's name, f(int, long), does not split, unless an option and a '=' follow it. An unclosed
// bracket has no effect.
std::vector<absl::string_view> SplitOptions(absl::string_view text) {
  std::vector<absl::string_view> items;
  while (!text.empty()) {
    const size_t end = ItemName(text.substr(0, text.find(','))) == "hook"
                           ? EndOfHook(text)
                           : std::min(text.find(','), text.size());
    const absl::string_view item = text.substr(0, end);
    if (!absl::StripAsciiWhitespace(item).empty()) items.push_back(item);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return items;
}

absl::Status UnknownOption(absl::string_view name, bool has_value) {
  if (!has_value && absl::StrContains(name, '.')) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", name,
                     "' is not an option; several patterns, names or codes are "
                     "separated by ';', as in include=a.**;b.**"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown option '", name, "'; did you mean '",
                   Nearest(name, OptionTable(), [](const OptionEntry& it) { return it.name; }),
                   "'? (try help)"));
}

absl::Status WithName(const OptionEntry& entry, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat("option '", entry.name, "': ", status.message()));
}

absl::Status ParseOne(absl::string_view item, Options& options) {
  const size_t equals = item.find('=');
  const bool has_value = equals != absl::string_view::npos;
  const absl::string_view name = absl::StripAsciiWhitespace(item.substr(0, equals));
  const absl::string_view value =
      has_value ? absl::StripAsciiWhitespace(item.substr(equals + 1)) : absl::string_view();
  const OptionEntry* const entry = FindOption(name);
  if (entry == nullptr) return UnknownOption(name, has_value);
  if (!entry->value.empty() && !has_value) {
    return absl::InvalidArgumentError(
        absl::StrCat("option '", name, "' needs a value: ", name, "=", entry->value));
  }
  return WithName(*entry, entry->parse(value, options));
}

bool ParseAction(absl::string_view item, Options& options) {
  return ParseWord(absl::StripAsciiWhitespace(item), kActions, options.action).ok();
}

absl::Status ParseInto(absl::string_view text, Options& options) {
  bool is_first = true;
  for (absl::string_view item : SplitOptions(text)) {
    if (std::exchange(is_first, false) && ParseAction(item, options)) continue;
    if (absl::Status status = ParseOne(item, options); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<UnwindRule> Options::AllUnwinds() const {
  std::vector<UnwindRule> rules = unwinds;
  for (const native_hooks::HookSpec& spec : method_hooks) {
    if (spec.kind == native_hooks::HookKind::kUnwind) rules.push_back({spec.symbol, 1});
  }
  return rules;
}

// With clock=tsc or clock=cpu each node has its time, so that no metric is needed for it.
std::vector<std::string> RecordedMetrics(const Options& o) {
  if (!o.boundary_costs || o.record != RecordKind::kTree || !o.WantsCalls()) return o.metrics;
  const bool is_timed = o.clock != Clock::kTsc && o.clock != Clock::kCpu;
  return WithBoundaryMetrics(o.metrics, is_timed);
}

absl::string_view MoreThanCalls(const Options& o) {
  if (o.record == RecordKind::kLog) return "record=log";
  if (o.clock != Clock::kNone) return "clock=";
  if (o.blocks != Blocks::kOff) return "blocks=";
  if (o.sites) return "sites=";
  if (o.CountsBoundaryCalls()) return "boundary=";
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

absl::StatusOr<Options> ParseOptions(absl::string_view text) {
  Options options;
  if (absl::Status status = ParseInto(text, options); !status.ok()) return status;
  for (const OptionEntry& entry : OptionTable()) {
    if (entry.finish == nullptr) continue;
    if (absl::Status status = WithName(entry, entry.finish(options)); !status.ok()) return status;
  }
  return options;
}

std::string OptionsHelp() {
  std::string out =
      "jtrace: exact call trees of Java programs with samples merged on\n"
      "usage: java -agentpath:libjtrace.so[=OPTION[=VALUE],…] …\n"
      "       java -agentpath:libjtrace.so=mode=merged,out=/tmp/%p.bin -jar app.jar\n"
      "       java -agentpath:libjtrace.so=serve …   record nothing until: jtrace start PID\n\n";
  for (const OptionEntry& entry : OptionTable()) {
    const std::string name =
        entry.value.empty() ? std::string(entry.name) : absl::StrCat(entry.name, "=", entry.value);
    absl::StrAppendFormat(&out, "  %-28s %s\n", name, entry.help);
  }
  absl::StrAppend(&out, "\n", SampleOptionsHelp(), "\n", MetricsHelp());
  absl::StrAppend(&out, "\ncodes, and whether they are on by default:\n", EventCodesHelp());
  return out;
}

std::string ChangedCodes(const Options& o) {
  EventCodeSet codes = o.codes;
  codes.Apply("-boundary").IgnoreError();
  return codes.Changes();
}

std::string DescribeOptions(const Options& o) {
  // The action is the first word. probes=resting parses back only with "serve".
  std::string out = o.action == Action::kServe || o.probes_rest ? "serve" : "";
  for (const OptionEntry& entry : OptionTable()) {
    if (entry.describe == nullptr) continue;
    for (const std::string& value : entry.describe(o)) {
      absl::StrAppend(&out, out.empty() ? "" : ",", entry.name, "=", value);
    }
  }
  return out;
}

}  // namespace jtrace
