// The Java classes of java/ and java-native/, as the build compiled them.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace jtrace::calls {

struct EmbeddedClass {
  absl::string_view name;  // internal: with slashes
  absl::Span<const uint8_t> bytes;
};
inline constexpr absl::string_view kProbeClass = "java/lang/invoke/JTraceProbe";
// The probes that rewritten methods call with probes=resting.
inline constexpr absl::string_view kRestingClass = "java/lang/invoke/JTraceResting";
inline constexpr absl::string_view kLayoutClass = "java/lang/invoke/JTraceLayout";
inline constexpr absl::string_view kClockClass = "java/lang/invoke/JTraceClock";
inline constexpr absl::string_view kChargesClass = "java/lang/invoke/JTraceCharges";
inline constexpr absl::string_view kMetricsClass = "java/lang/invoke/JTraceMetrics";
inline constexpr absl::string_view kExitsClass = "java/lang/invoke/JTraceExits";
inline constexpr absl::string_view kLogClass = "java/lang/invoke/JTraceLog";
inline constexpr absl::string_view kBlocksClass = "java/lang/invoke/JTraceBlocks";
inline constexpr absl::string_view kRingClass = "java/lang/invoke/JTraceRing";
inline constexpr absl::string_view kWaitClass = "java/lang/invoke/JTraceWait";

// The classes of java/ that each probe set defines in java.base, with its own names.
absl::Span<const EmbeddedClass> EmbeddedProbeClasses();
absl::Span<const uint8_t> EmbeddedProbeClass();
// jtrace.NativeClock.
absl::Span<const uint8_t> EmbeddedNativeClock();
// jtrace.NativeIo.
absl::Span<const uint8_t> EmbeddedNativeIo();
// jtrace.NativeUnwind, and JTraceUnwind, which all sets share.
absl::Span<const uint8_t> EmbeddedNativeUnwind();
absl::Span<const uint8_t> EmbeddedUnwindClass();
// jtrace.NativeWait, and JTraceWait, which all sets share.
absl::Span<const uint8_t> EmbeddedNativeWait();
absl::Span<const uint8_t> EmbeddedWaitClass();

// jtrace.NativeCounters, and JTraceMetrics, which all sets share.
absl::Span<const uint8_t> EmbeddedNativeCounters();
absl::Span<const uint8_t> EmbeddedMetricsClass();
// jtrace.NativeMetrics, which jtrace-api.jar calls.
absl::Span<const uint8_t> EmbeddedNativeMetrics();

}  // namespace jtrace::calls
