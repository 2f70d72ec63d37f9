#include "postproc/reader/event_codes.h"

#include "absl/strings/str_format.h"
#include "proto/trace_format.h"

namespace jtrace::postproc {
using format::kEventCodes;

absl::Span<const EventCode> AllEventCodes() { return kEventCodes; }

const EventCode* FindEventCode(uint32_t major, uint32_t minor) {
  for (const EventCode& code : kEventCodes) {
    if (code.major != major) continue;
    if (code.minor == format::kAnyMinor || code.minor == (minor & ~format::kEnd)) return &code;
  }
  return nullptr;
}

const EventCode* FindEventCodeByOp(std::string_view op) {
  if (op.empty()) return nullptr;
  for (const EventCode& code : kEventCodes) {
    if (code.begin == op || code.end == op) return &code;
  }
  return nullptr;
}

std::string_view NoticeOp(uint32_t major, uint32_t minor) {
  const EventCode* code = FindEventCode(major, minor);
  if (code == nullptr || !code->is_notice) return {};
  return (minor & format::kEnd) != 0 ? code->end : code->begin;
}

std::string CodeText(uint32_t major, uint32_t minor) {
  if (minor == format::kUnwindMinor)
    return absl::StrFormat("0x%x", major);  // samples have no minor
  return absl::StrFormat("0x%x/0x%x", major, minor);
}

}  // namespace jtrace::postproc
