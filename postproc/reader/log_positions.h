// The paths of the positions that logs name (proto/FORMAT.md, "Logs").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "postproc/model/import_stats.h"
#include "postproc/model/trace_model.h"
#include "postproc/reader/definitions.h"
#include "postproc/reader/node_path.h"

namespace jtrace::postproc {

// Finds them by their difference from the thread's last position: programs that throw deep in a
// stack have many positions, all near each other. Traces made to jump between a deep stack's ends
// are not followed for ever: the logs' size bounds the walk.
class LogPositions {
 public:
  LogPositions(Definitions& definitions, TraceModel& model, ImportStats& stats)
      : definitions_(definitions), model_(model), stats_(stats) {}

  // That many bytes of logs follow.
  void Allow(size_t log_bytes) { room_ += kStepsPerByte * log_bytes; }

  struct Path {
    absl::Span<const PathStep> steps;  // below the thread's root; valid until the next Find
    size_t shared = 0;                 // how many are also in the thread's last position
  };
  // An unknown node, or another thread's, gives [lost]. None if it is too far to walk.
  std::optional<Path> Find(uint32_t thread, uint64_t node);

 private:
  static constexpr size_t kStepsPerByte = 16;
  static constexpr size_t kFreeSteps = 1 << 22;

  Definitions& definitions_;
  TraceModel& model_;
  ImportStats& stats_;
  size_t room_ = kFreeSteps;
  absl::flat_hash_map<uint32_t, NodePath> positions_;  // each thread's last position
};

}  // namespace jtrace::postproc
