// The number that a listing shows beside the counts: self time, or what --metric says.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "postproc/lines/line_profile.h"
#include "postproc/lines/method_code.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

enum class LineValue : uint8_t { kNone, kTicks, kBytecodes, kCycles };

// kTicks unless --metric names another one: kNone where lines do not have it.
LineValue LineValueOf(const ReportOptions& options);
// The head of its column.
std::string_view LineValueName(LineValue value);

uint64_t ValueOf(LineValue value, const LineCounts& line);
uint64_t ValueOf(LineValue value, const InstructionCounts& instruction);
// "" of 0.
std::string FormatLineValue(LineValue value, uint64_t number, const Units& units);

}  // namespace jtrace::postproc
