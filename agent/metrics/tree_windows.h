// Queries about methods and call paths while a recording runs: the counts since it began, or
// between two points in time that the program chooses (windows), in some threads or in all.
//
// The counts of a window are
//     sum of its threads' trees now - their trees when it was opened
//         + the last trees of its threads that have ended meanwhile,
// so nothing is lost when threads start and end. On the writer thread only, because it is the one
// that frees what is read here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "agent/calls/trees/tree_collector.h"
#include "agent/metrics/thread_families.h"
#include "agent/signal_safe/probe_memory.h"

namespace jtrace::metrics {

// The counts of a call path, callees not included: its calls, then the metrics that the probes
// charged to it, by column, and its processor time with clock=cpu.
inline constexpr size_t kCallsColumn = 0;
inline constexpr size_t kCpuColumn = 1 + signal_safe::kPathMetrics;
inline constexpr size_t kPathColumns = kCpuColumn + 1;
using PathValues = std::array<int64_t, kPathColumns>;
using ReadNode = absl::FunctionRef<PathValues(const signal_safe::Node&)>;

using Routines = absl::flat_hash_set<uint32_t>;

// The totals of a set of methods that is treated as one: an activation of any of them below another
// one is nested.
struct MethodTotals {
  int64_t calls = 0;
  int64_t outermost_calls = 0;  // those that were not nested
  int64_t base = 0;             // of one metric, callees not included
  int64_t cum = 0;              // callees included, nested activations once
};

// A call path and its value of one metric.
struct PathShare {
  int64_t value = 0;
  std::vector<uint32_t> routines;  // the innermost last; empty: no method with probes
};

// The counts of call trees at one time, or the difference between two times, as a calling-context
// tree. It sums the trees of several threads by call path. It copies the values of the probes'
// trees, so it outlives them.
class TreeSnapshot {
 public:
  // About 40 bytes a call path, and 8 more for each metric that is charged.
  static constexpr size_t kMaxNodes = 1 << 20;

  explicit TreeSnapshot(size_t max_nodes = kMaxNodes) : max_nodes_(max_nodes) {}

  // Adds `sign` times the counts of the thread's tree. The thread may run meanwhile.
  void Add(const signal_safe::Arena* arena, const signal_safe::ThreadState& state, int64_t sign,
           ReadNode read);
  // The same for a single node.
  void AddNode(const signal_safe::Arena* arena, const signal_safe::Node& node, int64_t sign,
               ReadNode read);
  void Add(const TreeSnapshot& other);

  // Returns only the counts in `roots` and below, by paths that begin at the outermost of these.
  TreeSnapshot Below(const Routines& roots) const;

  MethodTotals Totals(const Routines& methods, size_t column) const;
  // Returns the at most `count` call paths with the greatest values, callees not included, greatest
  // first. `methods`: only paths that end in one of these; null: any.
  std::vector<PathShare> Top(size_t column, size_t count, const Routines* methods) const;

  // Replaces each value of the column.
  void Convert(size_t column, absl::FunctionRef<int64_t(int64_t)> convert);

  // Returns whether there were too many call paths: the snapshot is then empty and stays so.
  bool is_full() const { return is_full_; }
  bool empty() const { return nodes_.size() == 1; }

 private:
  struct Node {
    uint32_t parent = 0;
    uint32_t routine = 0;
  };
  static constexpr uint32_t kNowhere = UINT32_MAX;

  // Drops all counts, because a part of them would be wrong, and their memory.
  void BecomeFull();
  // Returns the child's index, added if it is new; kNowhere if the tree is full.
  uint32_t Child(uint32_t parent, uint32_t routine);
  void AddValues(uint32_t index, const PathValues& values, int64_t sign);
  PathValues ValuesOf(size_t index) const;
  int64_t ValueOf(size_t index, size_t column) const {
    return index < values_[column].size() ? values_[column][index] : 0;
  }
  uint32_t IndexOf(const signal_safe::Arena* arena, const signal_safe::Node& node);

  size_t max_nodes_;
  bool is_full_ = false;
  std::vector<Node> nodes_ = {Node{}};  // parents before children; the first one is the root
  // By column and node; each column ends at the last node that has a value.
  std::array<std::vector<int64_t>, kPathColumns> values_;
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, uint32_t> children_;  // (parent, routine)
};

// Whose calls a window counts. The numbers are those of jtrace.NativeMetrics.
enum class Scope : int { kThread = 0, kDescendants = 1, kProcess = 2 };

class TreeWindows : public calls::TreeWatcher {
 public:
  // Begins with a recording: earlier counts are subtracted. Both references must outlive this.
  TreeWindows(calls::TreeCollector& trees, const ThreadFamilies& families);
  ~TreeWindows() override;
  TreeWindows(const TreeWindows&) = delete;
  TreeWindows& operator=(const TreeWindows&) = delete;

  // Returns the counts since the recording began, of all threads or of one that runs. NotFound: it
  // has counted nothing, or has ended. ResourceExhausted: there are too many call paths.
  absl::StatusOr<TreeSnapshot> SinceStart(std::optional<uint64_t> java_tid);

  // Opens a window. `window`: a number not used before; `java_tid`: the thread that opens it, which
  // waits while this and Counted run.
  void Open(uint64_t window, Scope scope, uint64_t java_tid);
  // Returns false if the window is not open.
  bool Close(uint64_t window) { return windows_.erase(window) != 0; }
  // Returns the counts of the window so far. `roots`: of the thread that opened it, only the counts
  // in these methods and below, as paths that begin there; null: all. NotFound: the window is not
  // open. ResourceExhausted: there are too many call paths.
  absl::StatusOr<TreeSnapshot> Counted(uint64_t window, const Routines* roots = nullptr);
  // Returns whether paths have processor time (clock=cpu), each thread's up to its last probe.
  bool has_cpu_time() const { return trees_.values().has_cpu_time(); }

  // Called when the JVM ends, after the last query: the trees of ending threads are no longer added
  // up, which would take as long as writing them.
  void StopWatching() { trees_.Watch(nullptr); }

  void OnThreadEnded(const signal_safe::ThreadState& state) override;
  void OnNodeRemoved(const signal_safe::ThreadState& state, const signal_safe::Node& node) override;

 private:
  struct Window {
    Scope scope;
    uint64_t java_tid;
    // The counts of freed nodes, minus the counts when the window was opened.
    TreeSnapshot own = TreeSnapshot();  // of the thread that opened it
    TreeSnapshot others = TreeSnapshot();
  };
  bool Covers(uint64_t number, const Window& window, uint64_t java_tid) const;
  void AddTree(const signal_safe::ThreadState& state, int64_t sign, TreeSnapshot& into);
  void AddOwnTree(const signal_safe::ThreadState& state, int64_t sign, TreeSnapshot& into);
  // Adds `sign` times the current trees of all its threads.
  void AddLiveTrees(uint64_t number, int64_t sign, Window& window);
  PathValues Read(const signal_safe::Node& node) const;
  // Returns the sum with processor times in nanoseconds; ResourceExhausted if it is full.
  absl::StatusOr<TreeSnapshot> Whole(TreeSnapshot sum) const;

  calls::TreeCollector& trees_;
  const ThreadFamilies& families_;
  TreeSnapshot ended_trees_;  // the counts of ended threads in this recording
  // Of running threads: freed nodes, minus the counts of earlier recordings.
  absl::flat_hash_map<uint64_t, TreeSnapshot> corrections_;
  absl::flat_hash_map<uint64_t, Window> windows_;
};

}  // namespace jtrace::metrics
