#ifndef JTRACE_AGENT_PROBES_PROBE_CLASS_H_
#define JTRACE_AGENT_PROBES_PROBE_CLASS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "agent/hot/layout.h"

namespace jtrace {

// java.lang.invoke.JTraceProbe, JTraceClock, JTraceLog and jtrace.NativeClock as the build compiled
// them (embedded, no file is read).
absl::Span<const uint8_t> EmbeddedProbeClass();
absl::Span<const uint8_t> EmbeddedClockClass();
absl::Span<const uint8_t> EmbeddedLogClass();
absl::Span<const uint8_t> EmbeddedNativeClock();

// What the class file's placeholders stand for.
struct ProbeConstants {
  uint64_t arena;  // address
  bool flat;       // record=flat
  // Offset of eight spare bytes in java.lang.Thread (FindThreadSpare); 0: none.
  uint64_t thread_spare;
  bool log = false;  // record=log
  hot::ProbeClock clock = hot::ProbeClock::kNone;
};

// What those of JTraceClock stand for.
struct ClockConstants {
  uint64_t ticks_function;  // address of jtrace_ticks
  double ticks_per_nano;
};

// The class with its constants filled in: the literals of JTraceProbe.java in the constant pool are
// overwritten, so that to the JIT they are constants like any other. Pure.
// Error: Internal, if a literal does not occur exactly once.
absl::StatusOr<std::vector<uint8_t>> PatchProbeClass(absl::Span<const uint8_t> class_bytes,
                                                     const ProbeConstants& constants);
// The same for JTraceClock.
absl::StatusOr<std::vector<uint8_t>> PatchClockClass(absl::Span<const uint8_t> class_bytes,
                                                     const ClockConstants& constants);

// Gives the class another internal name. Pure. Error: Internal, if the constant pool does not hold
// the old name exactly once.
absl::Status RenameProbeClass(std::vector<uint8_t>& bytes, absl::string_view from,
                              absl::string_view to);

}  // namespace jtrace

#endif  // JTRACE_AGENT_PROBES_PROBE_CLASS_H_
