// When things happened, for pictures over time: samples, compilations, class loads and collections
// in a fixed number of buckets, however long the trace is.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/numeric/int128.h"
#include "postproc/model/record_visitor.h"

namespace jtrace::postproc {

// The sums of a bucket.
enum class Series : uint8_t {
  kRunning,  // ticks of threads that ran
  kWaiting,  // ticks of threads that did not
  kC1,       // pieces of code, by compiler
  kC2,
  kOtherCode,  // wrappers, and where the compiler is not known
  kClasses,    // loaded
  kGc,         // time inside collections, in the trace's unit
};
inline constexpr size_t kSeries = 7;

class Timeline : public RecordVisitor {
 public:
  static constexpr size_t kBuckets = 1024;
  static constexpr size_t kMaxCollections = 2000;

  struct Collection {
    int64_t begin = 0;
    int64_t end = 0;
    std::string what;
  };

  void OnCalls(ThreadId, absl::Span<const CallRecord>) override {}
  void OnReducedCalls(ThreadId, const ReducedCalls&,
                      absl::FunctionRef<void(RecordVisitor&)>) override {}
  void OnSample(At at, const SampleRecord& sample) override;
  void OnCode(At at, const CodeRecord& code) override;
  void OnNotice(At at, std::string_view op, absl::Span<const std::string> args) override;

  // The buckets up to the last one used; bucket i begins at start() + i · width(). Empty if nothing
  // happened.
  size_t size() const { return has_start_ ? used_ : 0; }
  int64_t start() const;
  int64_t width() const;
  int64_t value(Series series, size_t bucket) const {
    return sums_[static_cast<size_t>(series)][bucket];
  }
  // The first ones, and the number of further ones.
  const std::vector<Collection>& collections() const { return collections_; }
  int64_t collections_left_out() const { return collections_left_out_; }

 private:
  using Sums = std::array<int64_t, kBuckets>;

  // The bucket of that time; buckets grow until there is one.
  size_t Bucket(int64_t time);
  void Double(bool to_the_left);
  void Add(Series series, size_t bucket, int64_t value);
  void EndCollection(int64_t end);

  // 128 bits: times of damaged traces can be anything, and the range only ever doubles.
  absl::int128 start_ = 0;
  absl::int128 width_ = 1;
  bool has_start_ = false;
  size_t used_ = 0;
  std::array<Sums, kSeries> sums_{};
  std::optional<Collection> open_;
  std::vector<Collection> collections_;
  int64_t collections_left_out_ = 0;
};

}  // namespace jtrace::postproc
