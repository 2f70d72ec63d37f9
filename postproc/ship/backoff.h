// When a target that failed is tried again.
#pragma once

#include <random>

#include "absl/time/time.h"

namespace jtrace::ship {

// Twice as long after each failure, from a second to a minute, of which a random half is left out:
// the shippers of many hosts must not come back together.
class Backoff {
 public:
  static constexpr absl::Duration kFirst = absl::Seconds(1);
  static constexpr absl::Duration kLongest = absl::Minutes(1);
  // What a server may ask for at most.
  static constexpr absl::Duration kLongestAsked = absl::Minutes(10);

  explicit Backoff(uint32_t seed) : random_(seed) {}

  bool IsReady(absl::Time now) const { return now >= next_; }
  absl::Time next() const { return next_; }
  int failures() const { return failures_; }
  void Succeeded();
  // `asked`: zero if the target did not say how long to wait.
  void Failed(absl::Time now, absl::Duration asked);

 private:
  std::minstd_rand random_;
  int failures_ = 0;  // since the last success
  absl::Time next_ = absl::InfinitePast();
};

}  // namespace jtrace::ship
