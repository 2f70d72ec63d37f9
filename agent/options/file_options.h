// Options about the files of a recording: loop=, keep=. Errors: InvalidArgument, in words that
// follow "option 'NAME': ". Pure.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace jtrace {

// loop=: when a recording continues in the next file.
struct Loop {
  static constexpr uint64_t kNoBytes = std::numeric_limits<uint64_t>::max();
  absl::Duration time = absl::InfiniteDuration();
  uint64_t bytes = kNoBytes;

  bool on() const { return time < absl::InfiniteDuration() || bytes != kNoBytes; }
  bool operator==(const Loop&) const = default;
};

// keep=: what stays of the files that a recording with loop= has ended; the oldest are removed.
struct Keep {
  static constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();
  static constexpr uint64_t kMaxFiles = 100'000;
  uint64_t bytes = kAll;
  uint64_t files = kAll;

  bool on() const { return bytes != kAll || files != kAll; }
  bool operator==(const Keep&) const = default;
};

absl::Status ParseLoop(absl::string_view value, Loop& loop);
absl::Status ParseKeep(absl::string_view value, Keep& keep);
// Checks that both fit together.
absl::Status CheckKeep(const Loop& loop, const Keep& keep);
// "1m", "100MB": none, one or both.
std::vector<std::string> DescribeLoop(const Loop& loop);
// "1GB", "60": none, one or both.
std::vector<std::string> DescribeKeep(const Keep& keep);

}  // namespace jtrace
