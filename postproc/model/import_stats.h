// Problems found while a trace was read: counted by kind, with details of the first few.
// Bad data never stops the reading; it is reported on stderr and in the summary.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "postproc/model/trace_model.h"

namespace jtrace::postproc {

// InfoOf describes them.
enum class Problem {
  kUnknownOp,
  kMalformedLine,
  kTimeRunsBack,
  kUnmatchedExit,
  kDamagedFrame,
  kDamagedChunk,
  kOversizedChunk,
  kDamagedLog,
  kFarPosition,
  kMissingChunk,
  kRepeatedChunk,
  kCutTail,
  kBytesBehind,
  kUnknownEvent,
  kUndefinedReference,
  kControlSum,
  kUnreadableClasses,
  kCount,
};

// A problem in words, for people.
struct ProblemInfo {
  Severity severity;
  std::string_view what;    // "lines with an unknown op, skipped"
  std::string_view advice;  // may be empty
};

const ProblemInfo& InfoOf(Problem problem);

class ImportStats {
 public:
  // `detail` says where, e.g. "a.jtxt:12: unknown op 'foo'"; only the first kMaxDetails are kept.
  void Add(Problem problem, std::string_view detail = {}, int64_t count = 1);

  int64_t count(Problem problem) const { return counts_[static_cast<size_t>(problem)]; }
  const std::vector<std::string>& details() const { return details_; }
  bool WantsDetail() const { return details_.size() < kMaxDetails; }
  // The problems that occurred.
  std::vector<Problem> Occurred() const;

  static constexpr size_t kMaxDetails = 10;

 private:
  std::array<int64_t, static_cast<size_t>(Problem::kCount)> counts_{};
  std::vector<std::string> details_;
};

}  // namespace jtrace::postproc
