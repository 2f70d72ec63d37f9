#include "agent/base/event_code_set.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

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
  Code code = Code::kNone;
  uint32_t major = 0;
  uint32_t minor = 0;
  absl::string_view name = {};
  bool on = false;
  absl::string_view what = {};
};

// The rows of format::kEventCodes that have a switch, indexed by code.
constexpr std::array<CodeRow, kCodeCount> kRows = [] {
  std::array<CodeRow, kCodeCount> rows;
  for (const format::EventCode& row : format::kEventCodes) {
    if (row.code == Code::kNone) continue;
    const uint32_t minor = row.minor == format::kAnyMinor ? format::kInterruptLevel : row.minor;
    rows[static_cast<size_t>(row.code)] = {row.code,  row.major,
                                           minor,     {row.name.data(), row.name.size()},
                                           row.is_on, {row.what.data(), row.what.size()}};
  }
  return rows;
}();

// Names of whole majors; their rows have names of their own.
struct GroupRow {
  uint32_t major;
  absl::string_view name;
};
constexpr GroupRow kGroups[] = {{format::kThread, "thread"}, {format::kException, "exception"},
                                {format::kJit, "jit"},       {format::kMonitor, "monitor"},
                                {format::kIo, "io"},         {format::kWaited, "waited"}};

// "0x20" or "0x20/0x2", parsed; `ok` is false for any other text.
struct Number {
  uint32_t major = 0;
  uint32_t minor = 0;
  bool has_minor = false;
  bool ok = false;
};

Number ParseNumber(absl::string_view item) {
  const size_t slash = item.find('/');
  const auto hex = [](absl::string_view text, uint32_t& value) {
    return absl::StartsWith(text, "0x") && absl::SimpleHexAtoi(text, &value);
  };
  Number number;
  number.has_minor = slash != absl::string_view::npos;
  number.ok = hex(item.substr(0, slash), number.major) &&
              (!number.has_minor || hex(item.substr(slash + 1), number.minor));
  return number;
}

uint32_t Distance(uint32_t a, uint32_t b) { return a > b ? a - b : b - a; }

std::string NearestNumber(const Number& number) {
  const CodeRow* best = &kRows[0];
  const auto distance = [&number](const CodeRow& row) {
    return std::pair(Distance(row.major, number.major), Distance(row.minor, number.minor));
  };
  for (const CodeRow& row : kRows) {
    if (distance(row) < distance(*best)) best = &row;
  }
  if (number.has_minor) {
    return absl::StrFormat("0x%x/0x%x (%s)", best->major, best->minor, best->name);
  }
  absl::string_view name = best->name;
  for (const GroupRow& group : kGroups) {
    if (group.major == best->major) name = group.name;
  }
  return absl::StrFormat("0x%x (%s)", best->major, name);
}

std::string NearestName(absl::string_view item) {
  std::vector<absl::string_view> names;
  for (const CodeRow& row : kRows) names.push_back(row.name);
  for (const GroupRow& group : kGroups) names.push_back(group.name);
  return std::string(Nearest(item, names, [](absl::string_view name) { return name; }));
}

absl::Status Unknown(absl::string_view item, const Number& number) {
  if (number.ok && (number.minor & format::kEnd) != 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("'%s' is the end of 0x%x/0x%x, which switches both", item, number.major,
                        number.minor & ~format::kEnd));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", item, "' is not a code; did you mean ",
                   number.ok ? NearestNumber(number) : NearestName(item), "?"));
}

bool IsNamed(const CodeRow& row, absl::string_view name) {
  if (row.name == name) return true;
  return std::any_of(std::begin(kGroups), std::end(kGroups), [&](const GroupRow& group) {
    return group.major == row.major && group.name == name;
  });
}

}  // namespace

EventCodeSet::EventCodeSet() {
  for (const CodeRow& row : kRows) default_[static_cast<size_t>(row.code)] = row.on;
  on_ = default_;
}

void EventCodeSet::SetDefault(Code code, bool on) {
  const auto i = static_cast<size_t>(code);
  default_[i] = on;
  if (!switched_on_[i] && !switched_off_[i]) on_[i] = on;
}

bool EventCodeSet::HasRecord(uint32_t major, uint32_t minor) const {
  bool any_row = false;
  bool any_on = false;
  for (const CodeRow& row : kRows) {
    if (row.major != major) continue;
    if (row.minor == (minor & ~format::kEnd)) return Has(row.code);
    any_row = true;
    any_on |= Has(row.code);
  }
  return any_on || !any_row;
}

absl::Status EventCodeSet::Apply(absl::string_view list) {
  for (absl::string_view item : absl::StrSplit(list, ';', absl::SkipWhitespace())) {
    item = absl::StripAsciiWhitespace(item);
    const bool on = !absl::ConsumePrefix(&item, "-");
    if (on) absl::ConsumePrefix(&item, "+");
    const Number number = ParseNumber(item);
    bool known = false;
    for (const CodeRow& row : kRows) {
      const bool is_it =
          number.ok ? row.major == number.major && (!number.has_minor || row.minor == number.minor)
                    : IsNamed(row, item);
      if (!is_it) continue;
      on_[static_cast<size_t>(row.code)] = on;
      switched_on_[static_cast<size_t>(row.code)] = on;
      switched_off_[static_cast<size_t>(row.code)] = !on;
      known = true;
    }
    if (!known) return Unknown(item, number);
  }
  return absl::OkStatus();
}

std::string EventCodeSet::Changes() const {
  std::string out;
  for (const CodeRow& row : kRows) {
    const bool asks_for_more = row.code == Code::kThreadSwitch && WasSwitchedOn(row.code);
    const bool is_default = Has(row.code) == default_[static_cast<size_t>(row.code)];
    // The mode may have switched the code off already; the text still has the user's -0x51.
    const bool asks_for_less = row.on && WasSwitchedOff(row.code);
    if (is_default && !asks_for_more && !asks_for_less) continue;
    absl::StrAppend(&out, out.empty() ? "" : ";", Has(row.code) ? "+" : "-", row.name);
  }
  return out;
}

std::string EventCodesHelp() {
  std::string out;
  for (const CodeRow& row : kRows) {
    const std::string number = absl::StrFormat("0x%02x/0x%x", row.major, row.minor);
    absl::StrAppendFormat(&out, "  %-15s %-12s %-4s %s\n", number, row.name, row.on ? "on" : "off",
                          row.what);
  }
  return out;
}

}  // namespace jtrace
