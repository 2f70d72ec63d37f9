// Segments of code that the program named (0x65, S3.28), by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "postproc/model/record_visitor.h"

namespace jtrace::postproc {

// Finds the time of each segment that ends: its record has it, or its begin is in the trace.
class SegmentPairs {
 public:
  // Times are in the trace's unit.
  struct Ended {
    std::string name;
    int64_t begin = 0;
    int64_t time = 0;  // from begin to end
  };
  // For each notice; none: it ends no segment whose time is known.
  std::optional<Ended> Take(At at, std::string_view op, absl::Span<const std::string> args);

  // The number that have begun and not ended, by name.
  absl::btree_map<std::string, int64_t> Open() const;

 private:
  // When they began, the innermost last.
  absl::flat_hash_map<std::pair<ThreadId, std::string>, std::vector<int64_t>> begun_;
};

class SegmentLog : public RecordVisitor {
 public:
  struct Total {
    int64_t count = 0;  // that ended
    int64_t time = 0;   // in the trace's unit, as the next two
    int64_t min = 0;
    int64_t max = 0;
    int64_t open = 0;  // that did not end in the trace

    void Add(int64_t more, int64_t sum, int64_t least, int64_t most);
  };

  void OnCalls(ThreadId, absl::Span<const CallRecord>) override {}
  void OnReducedCalls(ThreadId, const ReducedCalls&,
                      absl::FunctionRef<void(RecordVisitor&)>) override {}
  void OnNotice(At at, std::string_view op, absl::Span<const std::string> args) override;

  // Those with a record, and those that are only counted.
  absl::btree_map<std::string, Total> Totals() const;

 private:
  SegmentPairs pairs_;
  absl::btree_map<std::string, Total> totals_;
};

}  // namespace jtrace::postproc
