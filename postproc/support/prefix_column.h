// A value for each of many items, of which only the first ones have any: what lies behind the last
// item that was set is not stored.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace jtrace::postproc {

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
