#include "agent/metrics/user_counters.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace jtrace::metrics {
namespace {

constexpr size_t kMaxLetters = 64;

bool IsWord(absl::string_view text, absl::string_view marks) {
  return text.size() <= kMaxLetters && std::all_of(text.begin(), text.end(), [&](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains(marks, c);
         });
}

bool IsName(absl::string_view name) { return !name.empty() && IsWord(name, "._-"); }

}  // namespace

absl::StatusOr<uint32_t> UserCounters::Register(absl::string_view name, absl::string_view unit,
                                                Counting counting) {
  if (!IsName(name)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", name, "' cannot name a counter: use letters, digits, '.', '_' and '-', ",
                     kMaxLetters, " at most"));
  }
  // It is shown in tables and between quotes.
  if (!IsWord(unit, "._-/%")) {
    return absl::InvalidArgumentError(absl::StrCat("the unit of the counter '", name,
                                                   "' has invalid characters: use B, ns or none"));
  }
  const std::string full = absl::StrCat("user.", name);
  const std::lock_guard lock(mutex_);
  const uint32_t known = count();
  for (uint32_t i = 0; i < known; ++i) {
    if (counters_[i].name != full) continue;
    if (counters_[i].counting == counting) return kFirstUser + i;
    return absl::FailedPreconditionError(absl::StrCat(
        full, " counts by ",
        counting == Counting::kByThread ? "processor, not by thread" : "thread, not by processor",
        ": use another name"));
  }
  if (known == kMaxCounters) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no counter is left for '", name, "': there are at most ", kMaxCounters));
  }
  if (counting == Counting::kByProcessor && by_processor_ == nullptr) {
    by_processor_ = std::make_unique<RseqCounters>();
  }
  counters_[known] = {full, std::string(unit), counting};
  Publish(counting, by_processor_.get());
  return kFirstUser + known;
}

std::string UserCounters::NameOf(uint32_t metric) const {
  const UserCounter* const counter = Find(metric);
  return counter != nullptr ? counter->name : "";
}

std::vector<UserCounter> UserCounters::All() const {
  return {counters_.begin(), counters_.begin() + count()};
}

}  // namespace jtrace::metrics
