// A run's call tree as it is merged with others: only the frames in scope, by thread group.
//
// A node is kept if events counted it, or if a sample saw a routine in scope. The others (frames of
// the JDK, of native code, of the JVM) differ from release to release; their ticks are their
// caller's, and the samples still have the function that each tick interrupted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "postproc/fleet/stable_ids.h"
#include "postproc/fleet/stable_names.h"
#include "postproc/report/report.h"

namespace jtrace::postproc::fleet {

// In the trace's units: calls, times of the clock, samples' ticks.
struct FleetSums {
  int64_t calls = 0;
  int64_t calls_jitted = 0;
  int64_t base = 0;
  int64_t cum = 0;
  int64_t off = 0;
  int64_t base_ticks = 0;
  int64_t cum_ticks = 0;

  void Add(const FleetSums& other);
};

struct FleetNode : FleetSums {
  uint32_t parent = 0;   // index; of a root its own
  uint32_t routine = 0;  // index into FleetTree::routines; none of a root
  uint32_t group = 0;    // index into FleetTree::groups
  uint32_t depth = 0;    // 0: a root, of one thread group
  uint32_t level = 0;    // 1 + the activations of the same routine above; 0 of a root
  PathHash path;
};

class FleetTree {
 public:
  explicit FleetTree(const ReportInput& input);

  // Parents before their children.
  const std::vector<FleetNode>& nodes() const { return nodes_; }
  const std::vector<StableRoutine>& routines() const { return routines_; }
  const std::vector<std::string>& groups() const { return groups_; }
  // The node that has the numbers of a node of the trace's tree.
  uint32_t NodeOf(NodeId id) const { return node_of_[id.value - 1]; }
  // Routines of one identity share an index.
  uint32_t RoutineOf(RoutineId routine) const { return routine_of_[routine.value]; }

 private:
  void MakeRoutines(const TraceModel& model);
  uint32_t Root(const std::string& group);
  uint32_t Child(uint32_t parent, uint32_t routine);
  void Place(const ReportInput& input);
  void SetLevels();

  std::vector<FleetNode> nodes_;
  std::vector<StableRoutine> routines_;
  std::vector<std::string> groups_;
  std::vector<uint32_t> node_of_;
  std::vector<uint32_t> routine_of_;
  StringMap<uint32_t> roots_;
  absl::flat_hash_map<uint64_t, uint32_t> children_;
};

}  // namespace jtrace::postproc::fleet
