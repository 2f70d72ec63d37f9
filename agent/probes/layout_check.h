#ifndef JTRACE_AGENT_PROBES_LAYOUT_CHECK_H_
#define JTRACE_AGENT_PROBES_LAYOUT_CHECK_H_

#include <jni.h>

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace jtrace {

// A static final int of JTraceProbe and what layout.h has for it.
struct LayoutConstant {
  const char* java_name;
  int64_t value;
};

// Every offset, size and count that JTraceProbe.java repeats from layout.h.
absl::Span<const LayoutConstant> LayoutConstants();

// Compares the fields of the defined class with layout.h. Error: Internal, naming the field.
absl::Status CheckJavaLayout(JNIEnv* jni, jclass probe_class);

}  // namespace jtrace

#endif  // JTRACE_AGENT_PROBES_LAYOUT_CHECK_H_
