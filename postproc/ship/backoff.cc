#include "postproc/ship/backoff.h"

#include <algorithm>

namespace jtrace::ship {

void Backoff::Succeeded() {
  failures_ = 0;
  next_ = absl::InfinitePast();
}

void Backoff::Failed(absl::Time now, absl::Duration asked) {
  constexpr int kMostDoublings = 10;
  const absl::Duration longest =
      std::min(kFirst * (1 << std::min(failures_, kMostDoublings)), kLongest);
  ++failures_;
  const absl::Duration wait = longest * std::uniform_real_distribution<>(0.5, 1)(random_);
  next_ = now + std::max(wait, std::min(asked, kLongestAsked));
}

}  // namespace jtrace::ship
