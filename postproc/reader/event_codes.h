// The one table of records by their major and minor codes (FIG. 30, S3.1): used by both readers,
// dumps and the summary. proto/FORMAT.md describes the same.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/types/span.h"

namespace jtrace::postproc {

struct EventCode {
  // Matches every minor (interrupts: the level).
  static constexpr uint32_t kAnyMinor = 0;

  uint32_t major;
  uint32_t minor;  // of the begin; its end is minor + format::kEnd
  // The ops of a text trace; empty: there is no such record.
  std::string_view begin;
  std::string_view end;
  std::string_view name;  // for people, plural: "garbage collections"
  bool is_notice;         // written as "op <TAB> args"; changes no tree
};

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
