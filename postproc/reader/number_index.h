// Finds items by the numbers that a trace gives them. A writer counts them up, so that an array is
// enough; numbers far beyond the count of items, which only a damaged or hostile trace has, are in
// a map.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace jtrace::postproc {

class NumberIndex {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // The index of an item, or kNone.
  uint32_t Find(uint32_t number) const {
    if (number < dense_.size() && dense_[number] != 0) return dense_[number] - 1;
    if (sparse_.empty()) return kNone;
    const auto found = sparse_.find(number);
    return found == sparse_.end() ? kNone : found->second;
  }
  // `index`: the count of items before; the number is new.
  void Add(uint32_t number, uint32_t index) {
    if (number >= dense_.size()) {
      const size_t most = kFew + kMostPerItem * (size_t{index} + 1);
      if (number >= most) {
        sparse_[number] = index;
        return;
      }
      dense_.resize(number + size_t{1});
    }
    dense_[number] = index + 1;
  }

 private:
  // Threads may get blocks of numbers.
  static constexpr size_t kFew = size_t{1} << 16;
  static constexpr size_t kMostPerItem = 4;

  std::vector<uint32_t> dense_;  // by number: index + 1; 0: none, or in sparse_
  absl::flat_hash_map<uint32_t, uint32_t> sparse_;
};

}  // namespace jtrace::postproc
