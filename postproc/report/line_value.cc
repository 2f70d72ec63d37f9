#include "postproc/report/line_value.h"

#include <algorithm>

#include "postproc/lines/path_costs.h"
#include "postproc/report/line_cells.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

uint64_t AsCount(int64_t ticks) { return static_cast<uint64_t>(std::max<int64_t>(0, ticks)); }

}  // namespace

LineValue LineValueOf(const ReportOptions& options) {
  if (options.metric.empty() || options.metric == "ticks") return LineValue::kTicks;
  if (options.metric == kBytecodes) return LineValue::kBytecodes;
  return options.metric == kCycles ? LineValue::kCycles : LineValue::kNone;
}

std::string_view LineValueName(LineValue value) {
  constexpr std::string_view kNames[] = {"", "self", kBytecodes, kCycles};
  return kNames[static_cast<size_t>(value)];
}

uint64_t ValueOf(LineValue value, const LineCounts& line) {
  switch (value) {
    case LineValue::kTicks:
      return AsCount(line.ticks);
    case LineValue::kBytecodes:
      return line.instructions;
    case LineValue::kCycles:
      return line.cycles;
    case LineValue::kNone:
      break;
  }
  return 0;
}

uint64_t ValueOf(LineValue value, const InstructionCounts& instruction) {
  switch (value) {
    case LineValue::kTicks:
      return AsCount(instruction.ticks);
    case LineValue::kBytecodes:
      return instruction.count;
    case LineValue::kCycles:
      return instruction.cycles;
    case LineValue::kNone:
      break;
  }
  return 0;
}

std::string FormatLineValue(LineValue value, uint64_t number, const Units& units) {
  if (number == 0) return "";
  const int64_t integer = ToInteger(number);
  return value == LineValue::kTicks ? FormatInteger(integer, Style::kTicks, units)
                                    : FormatCount(integer);
}

}  // namespace jtrace::postproc
