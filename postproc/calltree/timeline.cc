#include "postproc/calltree/timeline.h"

#include <algorithm>
#include <limits>

#include "postproc/calltree/call_tree.h"
#include "postproc/calltree/jit_log.h"

namespace jtrace::postproc {
namespace {

int64_t Clamped(absl::int128 value) {
  constexpr absl::int128 kLeast = std::numeric_limits<int64_t>::min();
  constexpr absl::int128 kMost = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::clamp(value, kLeast, kMost));
}

}  // namespace

int64_t Timeline::start() const { return Clamped(start_); }
int64_t Timeline::width() const { return Clamped(width_); }

void Timeline::OnSample(At at, const SampleRecord& sample) {
  if (sample.is_unwind) return;
  Add(sample.state == SampleState::kRunning ? Series::kRunning : Series::kWaiting, Bucket(at.time),
      sample.weight);
}

void Timeline::OnCode(At at, const CodeRecord& code) {
  if (code.op != CodeRecord::Op::kLoad) return;
  const Series series = code.native_wrapper || code.level == 0 ? Series::kOtherCode
                        : code.level == kC2Level               ? Series::kC2
                                                               : Series::kC1;
  Add(series, Bucket(at.time), 1);
}

void Timeline::OnNotice(At at, std::string_view op, absl::Span<const std::string> args) {
  if (op == "class-load") {
    Add(Series::kClasses, Bucket(at.time), 1);
  } else if (op == "gc-begin") {
    Bucket(at.time);
    open_ = Collection{at.time, at.time, args.empty() ? std::string() : args.front()};
  } else if (op == "gc-end" && open_.has_value()) {
    EndCollection(at.time);
  }
}

// The buckets between divide the time.
void Timeline::EndCollection(int64_t end) {
  Collection collection = *std::move(open_);
  open_.reset();
  if (end < collection.begin) return;
  collection.end = end;
  const size_t last = Bucket(end);
  for (size_t i = Bucket(collection.begin); i <= last; ++i) {
    const absl::int128 bucket_start = start_ + width_ * absl::int128(i);
    const absl::int128 from = std::max(bucket_start, absl::int128(collection.begin));
    const absl::int128 to = std::min(bucket_start + width_, absl::int128(end));
    Add(Series::kGc, i, Clamped(to - from));
  }
  if (collections_.size() < kMaxCollections) {
    collections_.push_back(std::move(collection));
  } else {
    ++collections_left_out_;
  }
}

size_t Timeline::Bucket(int64_t time) {
  if (!has_start_) {
    has_start_ = true;
    start_ = time;
  }
  while (time < start_) Double(true);
  while (absl::int128(time) - start_ >= width_ * absl::int128(kBuckets)) Double(false);
  const size_t bucket = static_cast<size_t>((absl::int128(time) - start_) / width_);
  used_ = std::max(used_, bucket + 1);
  return bucket;
}

// Twice the range: two buckets become one, and the other half is free.
void Timeline::Double(bool to_the_left) {
  constexpr size_t kHalf = kBuckets / 2;
  const size_t offset = to_the_left ? kHalf : 0;
  for (Sums& sums : sums_) {
    Sums wider{};
    for (size_t i = 0; i < kBuckets; ++i) {
      wider[offset + i / 2] = WrapAdd(wider[offset + i / 2], sums[i]);
    }
    sums = wider;
  }
  if (to_the_left) start_ -= width_ * absl::int128(kBuckets);
  used_ = offset + (used_ + 1) / 2;
  width_ *= 2;
}

void Timeline::Add(Series series, size_t bucket, int64_t value) {
  int64_t& sum = sums_[static_cast<size_t>(series)][bucket];
  sum = WrapAdd(sum, value);
}

}  // namespace jtrace::postproc
