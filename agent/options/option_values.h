// Values of options that more than one option takes: sizes, times, files.
#ifndef JTRACE_AGENT_OPTION_VALUES_H_
#define JTRACE_AGENT_OPTION_VALUES_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace jtrace {

// "64m", "100MB": a number of bytes with k, m or g behind it, and B or not. At most 2^40.
absl::Status ParseBytes(absl::string_view value, uint64_t& bytes);
// In the largest of these units that gives a whole number: "64MB", "1000"; reads as no time.
std::string FormatBytes(uint64_t bytes);

// "30", "30s", "1h"; a bare number is seconds, as in other tools. False if it is no time above 0.
bool ParseSeconds(absl::string_view value, absl::Duration& time);

// The whole file; an error says why not.
absl::StatusOr<std::string> ReadTextFile(absl::string_view path);

}  // namespace jtrace

#endif  // JTRACE_AGENT_OPTION_VALUES_H_
