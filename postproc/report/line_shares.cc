#include "postproc/report/line_shares.h"

#include <algorithm>

#include "postproc/lines/merged_lines.h"

namespace jtrace::postproc {
namespace {

// Instructions without a line number are in the method's own sums only.
uint64_t WholeOf(const MethodLines& method, LineValue value) {
  uint64_t lines = 0;
  for (const LineCounts& line : method.lines) lines = AddCounts(lines, ValueOf(value, line));
  if (value == LineValue::kBytecodes) return std::max(lines, method.instructions);
  return value == LineValue::kCycles ? std::max(lines, method.cycles) : lines;
}

}  // namespace

LineValue ShareValueOf(const ReportInput& input) {
  const LineValue value = LineValueOf(input.options);
  if (value != LineValue::kTicks) return value == LineValue::kNone ? LineValue::kCycles : value;
  const auto& methods = input.lines.methods;
  const bool has_ticks = std::any_of(methods.begin(), methods.end(), [](const MethodLines& it) {
    return WholeOf(it, LineValue::kTicks) > 0;
  });
  return has_ticks ? LineValue::kTicks : LineValue::kCycles;
}

std::string_view ShareValueName(LineValue value) {
  return value == LineValue::kTicks ? "self time" : LineValueName(value);
}

LineShares::LineShares(const Methods& methods, LineValue value) {
  for (const MethodLines* method : methods) {
    const uint64_t whole = whole_[method] = WholeOf(*method, value);
    if (whole == 0) continue;
    for (const LineCounts& line : method->lines) {
      const uint64_t part = ValueOf(value, line);
      const double percent = 100 * static_cast<double>(part) / static_cast<double>(whole);
      has_any_ |= part > 0;
      const auto [known, is_new] = by_line_.try_emplace(line.line, Share{part, percent});
      if (!is_new && part > known->second.part) known->second = {part, percent};
    }
  }
}

std::optional<double> LineShares::Of(int32_t line) const {
  const auto found = by_line_.find(line);
  if (found == by_line_.end()) return std::nullopt;
  return found->second.percent;
}

std::optional<double> LineShares::Of(const MethodLines& method, uint64_t part) const {
  const auto found = whole_.find(&method);
  if (found == whole_.end() || found->second == 0) return std::nullopt;
  return 100 * static_cast<double>(part) / static_cast<double>(found->second);
}

}  // namespace jtrace::postproc
