// Counters that the program creates: their names and numbers. Any thread; where noted, also signal
// handlers.
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

class UserCounters : public CounterNumbers {
 public:
  // Finds or creates one, `name` without "user.", and returns its number as a metric.
  // InvalidArgument: not a name, or a unit with other letters than names, '/' and '%';
  // ResourceExhausted: all are in use; FailedPrecondition: the one of that name counts in the other
  // way.
  absl::StatusOr<uint32_t> Register(absl::string_view name, absl::string_view unit,
                                    Counting counting = Counting::kByThread);
  // Null: there is none of that number. Valid and unchanged as long as this lives.
  const UserCounter* Find(uint32_t metric) const {
    return Has(metric) ? &counters_[metric - kFirstUser] : nullptr;
  }
  // "user.orders"; "" if there is none of that number.
  std::string NameOf(uint32_t metric) const;
  // From kFirstUser on, in the order of their numbers.
  std::vector<UserCounter> All() const;

 private:
  mutable std::mutex mutex_;                        // held to register
  std::array<UserCounter, kMaxCounters> counters_;  // published ones are never written to
  std::unique_ptr<RseqCounters> by_processor_;
};

}  // namespace jtrace::metrics
