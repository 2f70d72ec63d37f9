// Installs the agent's signal handlers.
#pragma once

#include "absl/status/status.h"
#include "agent/samples/handler/sample_handler.h"

namespace jtrace::samples {

// Installs the sampling handler for `signal` and publishes `state`, which must live forever. The
// previous handler gets the signals that are not ours. Once installed, the handler stays
// (sample_handler.h says why), for each signal that a session used; a later session with the same
// signal only changes the state.
absl::Status InstallSampleHandler(int signal, SamplerState* state);

// From now on the sampling handler is not interrupted by another signal of the agent's, whose
// handler would need as much of a small alternate stack again.
void BlockWhileSampling(int signal);

// Whether our handler still handles `signal`: the program may have installed its own.
bool IsSampleHandler(int signal);

// From now on every signal of our timers is dropped.
void DeactivateSampleHandler();

// Makes our own guarded loads recoverable (safe_read.h), in front of the JVM's SIGSEGV and SIGBUS
// handlers. Only for a libjvm without SafeFetch: -Xcheck:jni reports foreign handlers there.
absl::Status InstallFaultHandler();

}  // namespace jtrace::samples
