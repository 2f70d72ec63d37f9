// Counters that the program itself makes: their names and numbers. Any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace jtrace::metrics {

struct UserCounter {
  std::string name;  // "user.orders"
  std::string unit;
};

class UserCounters {
 public:
  // Finds or makes one, `name` without "user.", and returns its number as a metric.
  // InvalidArgument: not a name; ResourceExhausted: there are no more.
  absl::StatusOr<uint32_t> Register(absl::string_view name, absl::string_view unit);
  // "user.orders"; "" if there is none of that number.
  std::string NameOf(uint32_t metric) const;
  // From kFirstUser on, in the order of their numbers.
  std::vector<UserCounter> All() const;

 private:
  mutable std::mutex mutex_;
  std::vector<UserCounter> counters_;
};

}  // namespace jtrace::metrics
