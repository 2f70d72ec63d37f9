// Finds the kinds of records (proto/event_codes.h) by code and by op: used by both readers, dumps
// and the summary.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "proto/event_codes.h"

namespace jtrace::postproc {

using format::EventCode;

absl::Span<const EventCode> AllEventCodes();

// The row of a code, begin or end; null: unknown.
const EventCode* FindEventCode(uint32_t major, uint32_t minor);
// The row of an op; the first if several have it. Null: unknown.
const EventCode* FindEventCodeByOp(std::string_view op);

// The argument of an interrupt's notice that has its level, which is left out if it is 0.
inline constexpr std::string_view kLevelArg = "level=";

// The op that a text trace shows for a notice's code; empty: unknown, or not a notice.
std::string_view NoticeOp(uint32_t major, uint32_t minor);

// "0x60/0x1"; "0x40" for samples.
std::string CodeText(uint32_t major, uint32_t minor);

}  // namespace jtrace::postproc
