// Installs the handlers of the samples' signal and of faults. Not called in handlers.
#pragma once

#include "absl/status/status.h"
#include "agent/samples/handler/sample_handler.h"

namespace jtrace::samples {

// Installs the sampling handler for `signal` and publishes `config`, which must live forever. The
// previous handler gets the signals that are not ours. Once installed, the handler stays
// (sample_handler.h says why), for each signal that a recording used; a later one with the same
// signal only changes the configuration.
absl::Status InstallSampleHandler(int signal, SampleHandlerConfig* config);

// Blocks `signal`, another signal of the agent's, while the sampling handler runs from now on. A
// second handler would need as much of a small alternate stack again.
void BlockWhileSampling(int signal);

// Whether our handler still handles `signal`: the program may have installed its own.
bool IsSampleHandler(int signal);

// From now on every signal of our timers is dropped. The handler stays installed.
void DeactivateSampleHandler();

// Installs handlers of SIGSEGV and SIGBUS in front of the JVM's, so that guarded loads may fail
// (safe_read.h). Only for a libjvm without SafeFetch: -Xcheck:jni reports foreign handlers there.
absl::Status InstallFaultHandler();

}  // namespace jtrace::samples
