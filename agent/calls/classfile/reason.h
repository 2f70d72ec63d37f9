// The one table of why a method has no probe, or not the whole one.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/types/span.h"

namespace jtrace::classfile {

// `kNone` is a method probed in full.
enum class Reason : uint8_t {
  kNone,
  // Not meant to have a probe.
  kNoCode,
  kOutOfScope,
  // Probed, but its exit by an exception takes effect only at the next probe of a caller.
  kHugeMethodLight,
  kConstructorUncovered,
  // Probed, except for the calls and exceptions inside it.
  kPointsLeftOut,
  // Probed, but its blocks are not counted.
  kBlocksTooLarge,
  kBlocksUnknownFlow,
  // Probed, but its call sites are not distinguished.
  kCallSitesLeftOut,
  // Meant to have a probe, but left untouched.
  kEmptyFinalizer,
  kChangesThread,
  kHugeMethod,
  kCodeTooLarge,
  kFrameTooLarge,
  kExceptionTableFull,
  kConstantPoolFull,
  kJumpTooFar,
  kUnknownAttribute,
  kUnknownFrame,
  kMalformedCode,
  kMalformedStackMap,
  kMalformedTable,
};
inline constexpr int kReasonCount = static_cast<int>(Reason::kMalformedTable) + 1;

// The effect of a reason on the user's results.
enum class Effect : uint8_t { kNothing, kPartial, kUntouched };

// A row of the table.
struct ReasonInfo {
  Reason reason;
  Effect effect;
  std::string_view name;    // stable, for traces and tests
  std::string_view what;    // one clause, no full stop
  std::string_view advice;  // empty if there is nothing to do
};

const ReasonInfo& Describe(Reason reason);

// The whole table, in the order of the enumeration.
absl::Span<const ReasonInfo> AllReasons();

}  // namespace jtrace::classfile
