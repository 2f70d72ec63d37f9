// How often a target failed with one trace: it may be the trace, and the next ones must not wait.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "postproc/ship/sealed_traces.h"

namespace jtrace::ship {

// In memory alone: the next shipper counts anew.
class Tries {
 public:
  static constexpr int kMost = 5;  // before the next trace goes first

  // True while the next trace goes first.
  bool IsResting(const SealedTrace& trace, std::string_view target, absl::Time now) const {
    const auto found = pairs_.find(KeyOf(trace, target));
    return found != pairs_.end() && now < found->second.rests_until;
  }
  // `next`: when the target itself is tried again. Returns how often jtrace-post was `broken`.
  int Failed(const SealedTrace& trace, std::string_view target, bool broken, absl::Time next);
  bool HasFailed(const SealedTrace& trace, std::string_view target) const {
    return pairs_.contains(KeyOf(trace, target));
  }
  void Forget(const SealedTrace& trace, std::string_view target) {
    pairs_.erase(KeyOf(trace, target));
  }
  // Every trace that is not among these.
  void ForgetAllBut(const std::vector<SealedTrace>& traces);
  size_t size() const { return pairs_.size(); }

 private:
  struct Pair {
    int failures = 0;
    int broken = 0;
    absl::Time rests_until = absl::InfinitePast();
  };
  using Key = std::pair<std::string, std::string>;  // the trace, the target
  static std::string NameOf(const SealedTrace& trace);
  static Key KeyOf(const SealedTrace& trace, std::string_view target) {
    return {NameOf(trace), std::string(target)};
  }

  absl::flat_hash_map<Key, Pair> pairs_;
};

}  // namespace jtrace::ship
