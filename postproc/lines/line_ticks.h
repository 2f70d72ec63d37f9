// Samples by the place in a method that they interrupted.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "postproc/model/record_visitor.h"

namespace jtrace::postproc {

// Ticks by bytecode index.
using TicksByBci = absl::btree_map<uint16_t, int64_t>;

class LineTicks : public RecordVisitor {
 public:
  explicit LineTicks(const TraceModel& model) : model_(model) {}

  void OnCalls(ThreadId, absl::Span<const CallRecord>) override {}
  void OnReducedCalls(ThreadId, const ReducedCalls&,
                      absl::FunctionRef<void(RecordVisitor&)>) override {}
  // Of each sample whose innermost frame's place is known: its ticks.
  void OnSample(At at, const SampleRecord& sample) override;

  // Null: none in that routine.
  const TicksByBci* Of(RoutineId routine) const;

 private:
  const TraceModel& model_;
  absl::flat_hash_map<RoutineId, TicksByBci> ticks_;
};

}  // namespace jtrace::postproc
