// The size of the next batch of classes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

#include "absl/time/time.h"

namespace jtrace {

// How large the next batch of classes may be, by what the JIT had to do after the one before.
//
// With each batch the JVM discards compiled code that depends on its classes. Nobody knows in
// advance how much: nothing for classes that are hardly used, all of a server's busy code for a few
// others. So batches begin small, grow after little work of the compilers, and shrink after much
// work. Pure; the caller measures.
class BatchSizer {
 public:
  // `all`: how many classes all batches together have.
  explicit BatchSizer(size_t all)
      : least_(std::max<size_t>(1, all / kMaxBatches)), classes_(std::max(least_, kFirst)) {}
  static BatchSizer Unlimited() { return BatchSizer(std::numeric_limits<size_t>::max() / 2); }

  // The most classes that the next batch may have.
  size_t classes() const { return classes_; }
  // After a batch of `classes`: the compilers used `work` until they rested.
  void After(size_t classes, absl::Duration work) {
    const size_t had = std::min(classes_, classes);
    if (work > kMuchWork) classes_ = std::max(least_, had / 2);
    if (work < kLittleWork) classes_ = std::max(classes_, 2 * had);
  }

 private:
  static constexpr size_t kFirst = 8;
  // The number of batches if all have the least size.
  static constexpr size_t kMaxBatches = 128;
  static constexpr absl::Duration kMuchWork = absl::Milliseconds(100);
  static constexpr absl::Duration kLittleWork = absl::Milliseconds(30);

  size_t least_;
  size_t classes_;
};

}  // namespace jtrace
