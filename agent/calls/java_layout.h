// Checks that the constants of the probes' Java classes equal those of the C++ headers.
#pragma once

#include <jni.h>

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace jtrace::calls {

// A static final int of a class of the probes, and the value that the C++ headers have.
struct LayoutConstant {
  const char* java_name;
  int64_t value;
};

// Every offset, size and count that the Java class of that name (JTraceLayout and so on) repeats
// from arena.h and what it includes, metric_counts.h and log_ring.h.
absl::Span<const LayoutConstant> LayoutConstantsInJava();
absl::Span<const LayoutConstant> ClockConstantsInJava();
absl::Span<const LayoutConstant> ChargesConstantsInJava();
absl::Span<const LayoutConstant> MetricsConstantsInJava();
absl::Span<const LayoutConstant> ExitsConstantsInJava();
absl::Span<const LayoutConstant> LogConstantsInJava();
absl::Span<const LayoutConstant> RingConstantsInJava();

// Compares a class's fields with `constants`. Error: Internal, which names the field.
absl::Status CheckJavaLayout(JNIEnv* jni, jclass defined,
                             absl::Span<const LayoutConstant> constants);

}  // namespace jtrace::calls
