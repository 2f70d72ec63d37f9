// Where a method requests and releases monitors, so that codes=+lock counts them (S3.26).
//
// Each request and each release gets a probe that only counts, as a call of `[monitorenter]` or
// `[monitorexit]` would:
// - monitorenter: before the instruction. A probe after it could throw (StackOverflowError) where
//   the compiler's handler does not cover it yet, and the monitor would stay locked;
// - monitorexit: before the instruction, where an exception of the probe still reaches the handler
//   that releases the monitor. That handler covers itself, so that a throwing probe in it would
//   enter it again forever: there the probe is after the covered part, as resume probes are;
// - a synchronized method: after its entry, before each return, and where the catch-all passes an
//   exception on.
// So every path releases what it has locked, as before: the JVM's structured locking stays.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "agent/calls/classfile/probe_point.h"
#include "agent/calls/classfile/probe_point_finder.h"
#include "common/classfile/class_file.h"
#include "common/classfile/code_attribute.h"

namespace jtrace::classfile {

inline bool IsMonitorPoint(ProbePointKind kind) {
  return kind == ProbePointKind::kMonitorEnter || kind == ProbePointKind::kMonitorExit;
}

// Appends the method's monitor points. The release in the catch-all of a synchronized method is the
// last one, and has the end of the code as its bci.
void FindMonitorPoints(const MethodInfo& method, const CodeAttribute& code,
                       std::vector<ProbePoint>& points);

// Whether `points` include the release in the catch-all.
bool ReleasesAtCatchAll(absl::Span<const ProbePoint> points, const CodeAttribute& code);

// Returns the bci before which the probe goes, for a point at an instruction.
uint32_t MonitorProbeBci(const ProbePoint& point, const CodeAttribute& code);

}  // namespace jtrace::classfile
