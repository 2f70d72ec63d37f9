// Kinds of values that several options share: sizes, times, files.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace jtrace {

// "64m", "100MB": a number of bytes followed by k, m or g, with or without B. At most 2^40.
absl::Status ParseBytes(absl::string_view value, uint64_t& bytes);
// In the largest of these units that gives a whole number: "64MB", "1000"; cannot be mistaken for a
// time.
std::string FormatBytes(uint64_t bytes);

// "30", "30s", "1h"; a bare number is seconds, as in other tools. False if it is not a time above
// 0.
bool ParseSeconds(absl::string_view value, absl::Duration& time);

// The whole file; an error says why not.
absl::StatusOr<std::string> ReadTextFile(absl::string_view path);

}  // namespace jtrace
