#include "agent/metrics/user_counters.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "agent/hot/counter_block.h"
#include "agent/metrics/metric.h"

namespace jtrace::metrics {
namespace {

bool IsName(absl::string_view name) {
  constexpr size_t kMostLetters = 64;
  return !name.empty() && name.size() <= kMostLetters &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' ||
                  c == '-';
         });
}

}  // namespace

absl::StatusOr<uint32_t> UserCounters::Register(absl::string_view name, absl::string_view unit) {
  if (!IsName(name)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", name, "' cannot name a counter: use letters, digits, '.', '_' and '-'"));
  }
  const std::string full = absl::StrCat("user.", name);
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(counters_.begin(), counters_.end(),
                                  [&](const UserCounter& it) { return it.name == full; });
  const auto number = kFirstUser + static_cast<uint32_t>(found - counters_.begin());
  if (found != counters_.end()) return number;
  if (number == hot::kMaxMetrics) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no counter is left for '", name, "': there are at most ", counters_.size()));
  }
  counters_.push_back({full, std::string(unit)});
  return number;
}

std::string UserCounters::NameOf(uint32_t metric) const {
  const std::lock_guard lock(mutex_);
  const bool is_known = metric >= kFirstUser && metric - kFirstUser < counters_.size();
  return is_known ? counters_[metric - kFirstUser].name : "";
}

std::vector<UserCounter> UserCounters::All() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

}  // namespace jtrace::metrics
