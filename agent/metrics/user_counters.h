// The names, units and numbers of the counters that the program creates. Any thread; the functions
// of UserCounterTable, and Find, also in signal handlers.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "agent/metrics/counter_numbers.h"
#include "agent/metrics/rseq_counters.h"

namespace jtrace::metrics {

struct UserCounter {
  std::string name;  // "user.orders"
  std::string unit;
  Counting counting = Counting::kByThread;
};

class UserCounters : public UserCounterTable {
 public:
  // Finds or creates a counter, `name` without "user.", and returns its number as a metric.
  // InvalidArgument: not a name, or a unit with other letters than names, '/' and '%';
  // ResourceExhausted: all are in use; FailedPrecondition: the one of that name counts in the other
  // way.
  absl::StatusOr<uint32_t> Register(absl::string_view name, absl::string_view unit,
                                    Counting counting = Counting::kByThread);
  // Returns the counter of that number, which never changes or moves; null: there is none.
  const UserCounter* Find(uint32_t metric) const {
    return Has(metric) ? &counters_[metric - kFirstUser] : nullptr;
  }
  // Returns "user.orders"; "": there is no counter of that number.
  std::string NameOf(uint32_t metric) const;
  // Returns all counters in the order of their numbers, from kFirstUser on.
  std::vector<UserCounter> All() const;

 private:
  mutable std::mutex mutex_;                        // held by Register
  std::array<UserCounter, kMaxCounters> counters_;  // published ones are never written to
  std::unique_ptr<RseqCounters> by_processor_;
};

}  // namespace jtrace::metrics
