// A bound on the work that a trace can cause, by its size: zstd can expand a kilobyte to gigabytes,
// and a record of few bytes may name something long or deep. No trace that jtrace wrote gets near
// it.
#pragma once

#include <cstdint>
#include <exception>

namespace jtrace::postproc {

class WorkBudget {
 public:
  // Thrown when the budget is spent: a half-read trace is of no use.
  class Spent : public std::exception {
   public:
    const char* what() const noexcept override { return "more work than its size can need"; }
  };

  explicit WorkBudget(uint64_t trace_bytes) : left_(kFree + kPerByte * trace_bytes) {}

  // A step takes some nanoseconds: compare a level of a path, copy two bytes of text.
  void Take(uint64_t steps) {
    if (steps > left_) throw Spent();
    left_ -= steps;
  }
  void TakeText(uint64_t bytes) { Take(bytes / 2); }
  // Of protobuf: allocated, read, and freed.
  void TakeObjects(uint64_t bytes) { Take(4 * bytes); }

 private:
  static constexpr uint64_t kFree = uint64_t{1} << 31;
  static constexpr uint64_t kPerByte = 4096;  // an honest log takes 40 ns a byte

  uint64_t left_;
};

}  // namespace jtrace::postproc
