#include "agent/base/codes.h"

#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "common/nearest.h"
#include "proto/trace_format.h"

namespace jtrace {
namespace {

struct CodeRow {
  Code code;
  uint32_t major;
  uint32_t minor;  // 0: all minors without a row for this major
  absl::string_view name;
  bool on;
  absl::string_view what;
};

constexpr CodeRow kRows[] = {
    {Code::kInterrupt, format::kInterrupt, 0, "interrupt", false, "jtrace's own signal handler"},
    {Code::kThread, format::kThread, 0, "thread", true, "threads that start and end"},
    {Code::kThreadSwitch, format::kThreadSwitch, 0, "switch", true, "threads on and off"},
    {Code::kClass, format::kClass, 0, "class", true, "classes loaded and unloaded"},
    {Code::kClassPrepare, format::kClass, format::kClassPrepare, "prepare", false,
     "classes that become ready for use"},
    {Code::kClassRedefine, format::kClass, format::kClassRedefine, "redefine", true,
     "classes that another agent changes"},
    {Code::kInterpreted, format::kInterpreted, 0, "interpreted", true,
     "calls that ran interpreted"},
    {Code::kBoundary, format::kBoundary, 0, "boundary", false,
     "calls that leave the scope: the same as boundary=on"},
    {Code::kException, format::kException, 0, "exception", false,
     "exceptions thrown and caught in scope, counted by call path"},
    {Code::kNativeHook, format::kNativeHook, 0, "hook", true, "calls of native functions (hook=)"},
    {Code::kSample, format::kTimerUnwind, 0, "sample", true, "timer samples"},
    {Code::kUnwind, format::kInstrumentedUnwind, 0, "unwind", true, "instrumented unwinds"},
    {Code::kJitted, format::kJitted, 0, "jitted", true, "calls that ran compiled"},
    {Code::kJit, format::kJit, 0, "jit", true, "compiled code and stubs"},
    {Code::kGc, format::kGc, 0, "gc", true, "pauses for garbage collection"},
    {Code::kMonitor, format::kMonitor, 0, "monitor", false, "contended monitors, Object.wait"},
    {Code::kPark, format::kPark, 0, "park", false, "LockSupport.park, counted by call path"},
    {Code::kAllocation, format::kAllocation, 0, "alloc", false, "a sample of the allocations"},
    {Code::kMetric, format::kMetric, 0, "metric", true, "metrics"},
};
static_assert(std::size(kRows) == kCodeCount);

constexpr bool InOrder() {
  for (size_t i = 0; i < kCodeCount; ++i) {
    if (kRows[i].code != static_cast<Code>(i)) return false;
  }
  return true;
}
static_assert(InOrder(), "the table is indexed by Code");

absl::Status Unknown(absl::string_view item) {
  std::string nearest(Nearest(item, kRows, [](const CodeRow& row) { return row.name; }));
  uint32_t major = 0;
  if (absl::StartsWith(item, "0x") && absl::SimpleHexAtoi(item, &major)) {
    const CodeRow* best = &kRows[0];
    const auto distance = [major](const CodeRow& row) {
      return row.major > major ? row.major - major : major - row.major;
    };
    for (const CodeRow& row : kRows) {
      if (distance(row) < distance(*best)) best = &row;
    }
    nearest = absl::StrFormat("0x%x (%s)", best->major, best->name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", item, "' is not a code; did you mean ", nearest, "?"));
}

}  // namespace

CodeSet::CodeSet() {
  for (const CodeRow& row : kRows) on_[static_cast<size_t>(row.code)] = row.on;
}

std::set<uint32_t> CodeSet::MajorsOff() const {
  std::set<uint32_t> majors;
  for (const CodeRow& row : kRows) {
    if (row.minor == 0 && row.on && !Has(row.code)) majors.insert(row.major);
  }
  return majors;
}

absl::Status CodeSet::Apply(absl::string_view list) {
  for (absl::string_view item : absl::StrSplit(list, ';', absl::SkipWhitespace())) {
    item = absl::StripAsciiWhitespace(item);
    const bool on = !absl::ConsumePrefix(&item, "-");
    if (on) absl::ConsumePrefix(&item, "+");
    uint32_t major = 0;
    const bool is_number = absl::StartsWith(item, "0x") && absl::SimpleHexAtoi(item, &major);
    bool known = false;
    for (const CodeRow& row : kRows) {
      if (is_number ? row.major != major : row.name != item) continue;
      on_[static_cast<size_t>(row.code)] = on;
      known = true;
    }
    if (!known) return Unknown(item);
  }
  return absl::OkStatus();
}

std::string CodesHelp() {
  std::string out;
  for (const CodeRow& row : kRows) {
    absl::StrAppendFormat(&out, "  0x%02x %-12s %-4s %s\n", row.major, row.name,
                          row.on ? "on" : "off", row.what);
  }
  return out;
}

}  // namespace jtrace
