// The codes of api/c/jtrace.h. Everything is async-signal-safe but Code of a Status.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "agent/metrics/own_totals.h"

namespace jtrace::abi {

// A sentence for people.
const char* ErrorText(int32_t code);

int32_t Code(metrics::Answer answer);
// Of a question about a thread.
int32_t ThreadCode(const absl::Status& status);
// Of a question about methods; `not_found`: what NotFound means.
int32_t MethodCode(const absl::Status& status, int32_t not_found);
int32_t CommandCode(const absl::Status& status);
// Of a request for a counter.
int32_t CounterCode(const absl::Status& status);

}  // namespace jtrace::abi
