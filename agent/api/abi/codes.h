// Returns the error codes of api/c/jtrace.h. ErrorText and Code are async-signal-safe.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "agent/metrics/current_thread_totals.h"

namespace jtrace::abi {

// Returns a sentence for people about the code; never null.
const char* ErrorText(int32_t code);

// Returns the code for a metric that is unavailable; JTRACE_OK: it is available.
int32_t Code(metrics::Availability availability);
// Returns the code for a question about a thread.
int32_t ThreadCode(const absl::Status& status);
// Returns the code for a question about methods; `not_found`: the code for NotFound.
int32_t MethodCode(const absl::Status& status, int32_t not_found);
// Returns the code for a command that failed.
int32_t CommandCode(const absl::Status& status);
// Returns the code for a request for a counter.
int32_t CounterCode(const absl::Status& status);

}  // namespace jtrace::abi
