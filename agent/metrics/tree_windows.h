// Queries about methods and call paths while a recording runs: the counts since it began, or
// between two points in time that the program chooses (windows), in some threads or in all.
//
// The counts of a window are
//     sum of its threads' trees now - their trees when it was opened
//         + the last trees of its threads that have ended meanwhile,
// so nothing is lost when threads start and end. On the writer thread only, because it is the one
// that frees what is read here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "agent/calls/trees/tree_collector.h"
#include "agent/metrics/thread_descendants.h"
#include "agent/metrics/tree_snapshot.h"
#include "agent/signal_safe/thread_state.h"
#include "agent/signal_safe/tree_node.h"

namespace jtrace::metrics {

// Whose calls a window counts. The numbers are those of jtrace.NativeMetrics.
enum class WindowScope : int { kThread = 0, kDescendants = 1, kProcess = 2 };

class TreeWindows : public calls::TreeWatcher {
 public:
  // Begins with a recording: earlier counts are subtracted. Both references must outlive this.
  TreeWindows(calls::TreeCollector& trees, const ThreadDescendants& families);
  ~TreeWindows() override;
  TreeWindows(const TreeWindows&) = delete;
  TreeWindows& operator=(const TreeWindows&) = delete;

  // Returns the counts since the recording began, of all threads or of one that runs. NotFound: it
  // has counted nothing, or has ended. ResourceExhausted: there are too many call paths.
  absl::StatusOr<TreeSnapshot> SinceStart(std::optional<uint64_t> java_tid);

  // Opens a window. `window`: a number not used before; `java_tid`: the thread that opens it, which
  // waits while this and CountsOf run.
  void Open(uint64_t window, WindowScope scope, uint64_t java_tid);
  // Returns false if the window is not open.
  bool Close(uint64_t window) { return windows_.erase(window) != 0; }
  // Returns the counts of the window so far. `roots`: of the thread that opened it, only the counts
  // in these methods and below, as paths that begin there; null: all. NotFound: the window is not
  // open. ResourceExhausted: there are too many call paths.
  absl::StatusOr<TreeSnapshot> CountsOf(uint64_t window, const Routines* roots = nullptr);
  // Returns the numbers of the metrics that are charged to call paths, by their places in the
  // trees.
  const std::vector<uint8_t>& metric_numbers() const { return trees_.values().metrics().numbers; }
  // Returns whether paths have processor time (clock=cpu), each thread's up to its last probe.
  bool has_cpu_time() const { return trees_.values().has_cpu_time(); }

  // Called when the JVM ends, after the last query: the trees of ending threads are no longer added
  // up, which would take as long as writing them.
  void StopWatching() { trees_.Watch(nullptr); }

  void OnThreadEnded(const signal_safe::ThreadState& state) override;
  void OnNodeRemoved(const signal_safe::ThreadState& state, const signal_safe::Node& node) override;

 private:
  struct Window {
    WindowScope scope;
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
  const ThreadDescendants& families_;
  TreeSnapshot ended_trees_;  // the counts of ended threads in this recording
  // Of running threads: freed nodes, minus the counts of earlier recordings.
  absl::flat_hash_map<uint64_t, TreeSnapshot> corrections_;
  absl::flat_hash_map<uint64_t, Window> windows_;
};

}  // namespace jtrace::metrics
