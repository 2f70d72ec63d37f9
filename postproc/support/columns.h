// A number for each of many items, most of them small or absent: four bytes an item. Items behind
// the last one that was set take nothing. No I/O, no threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "postproc/support/wrap.h"

namespace jtrace::postproc {

class NarrowColumn {
 public:
  // 0 if it was never set.
  int64_t operator[](size_t item) const {
    if (item >= cells_.size()) return 0;
    const uint32_t cell = cells_[item];
    return cell < kWide ? int64_t{cell} - (cell != kAbsent ? 1 : 0) : Wide(item);
  }
  std::optional<int64_t> Find(size_t item) const {
    if (item >= cells_.size() || cells_[item] == kAbsent) return std::nullopt;
    return (*this)[item];
  }
  void Set(size_t item, int64_t value) {
    if (item > cells_.size()) cells_.resize(item, kAbsent);
    if (item == cells_.size()) cells_.push_back(kAbsent);
    uint32_t& cell = cells_[item];
    if (value >= 0 && value < int64_t{kWide} - 1) {
      if (cell == kWide) wide_.erase(item);
      cell = static_cast<uint32_t>(value) + 1;
    } else {
      cell = kWide;
      wide_[item] = value;
    }
  }
  // Modulo 2^64.
  void Add(size_t item, int64_t value) {
    const uint32_t cell = item < cells_.size() ? cells_[item] : kWide;
    if (cell != kAbsent && cell < kWide && value >= 0 && value < int64_t{kWide} - int64_t{cell}) {
      cells_[item] = cell + static_cast<uint32_t>(value);
    } else if (value != 0) {
      Set(item, WrapAdd((*this)[item], value));
    }
  }
  // Items from here on are 0.
  size_t size() const { return cells_.size(); }

 private:
  // A cell is the number and 1, or one of these.
  static constexpr uint32_t kAbsent = 0;
  static constexpr uint32_t kWide = std::numeric_limits<uint32_t>::max();
  // Where nobody needs the number, the compiler leaves out the search.
  [[gnu::pure]] int64_t Wide(size_t item) const noexcept { return wide_.find(item)->second; }

  std::vector<uint32_t> cells_;
  absl::flat_hash_map<uint64_t, int64_t> wide_;  // greater and negative numbers
};

// A value for each of many items, of which only the first ones have any: what lies behind the last
// item that was set is not stored.
template <typename T>
class PrefixColumn {
 public:
  PrefixColumn() = default;
  explicit PrefixColumn(size_t size) : values_(size) {}
  explicit PrefixColumn(std::vector<T> values) : values_(std::move(values)) {}

  T operator[](size_t item) const { return item < values_.size() ? values_[item] : T(); }
  // To be set.
  T& At(size_t item) {
    if (item >= values_.size()) Grow(item + 1);
    return values_[item];
  }
  // Items from here on have no value.
  size_t size() const { return values_.size(); }
  const std::vector<T>& values() const { return values_; }
  std::vector<T>& values() { return values_; }

 private:
  // Seldom: a call keeps what it would take in place small.
  [[gnu::noinline]] void Grow(size_t size) { values_.resize(size); }

  std::vector<T> values_;
};

}  // namespace jtrace::postproc
