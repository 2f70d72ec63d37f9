// The codes of api/c/jtrace.h. Everything except Code of a Status is async-signal-safe.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "agent/metrics/own_totals.h"

namespace jtrace::abi {

// A sentence for people.
const char* ErrorText(int32_t code);

int32_t Code(metrics::Answer answer);
// The code for a question about a thread.
int32_t ThreadCode(const absl::Status& status);
// The code for a question about methods; `not_found`: the meaning of NotFound.
int32_t MethodCode(const absl::Status& status, int32_t not_found);
int32_t CommandCode(const absl::Status& status);
// The code for a request for a counter.
int32_t CounterCode(const absl::Status& status);

}  // namespace jtrace::abi
