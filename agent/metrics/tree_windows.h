// Queries about methods and call paths while a recording runs: the counts since it began, or
// between two moments that the program chooses (windows), in some threads or in all.
//
// The counts of a window are
//     sum of its threads' trees now - their trees when it was opened
//         + the last trees of its threads that have ended meanwhile,
// so nothing is lost when threads start and end. On the writer thread only, because it is the one
// that frees what is read here.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "agent/metrics/thread_families.h"
#include "agent/metrics/tree_snapshot.h"
#include "agent/probes/tree_collector.h"

namespace jtrace::metrics {

// Whose calls a window counts. The numbers are those of jtrace.NativeMetrics.
enum class Scope : int { kThread = 0, kDescendants = 1, kProcess = 2 };

class TreeWindows : public TreeWatcher {
 public:
  // A recording begins. Both references must outlive it.
  TreeWindows(TreeCollector& trees, const ThreadFamilies& families);
  ~TreeWindows() override;
  TreeWindows(const TreeWindows&) = delete;
  TreeWindows& operator=(const TreeWindows&) = delete;

  // The counts since the recording began: of all threads, or of one that runs. Errors: NotFound:
  // that thread has counted nothing, or has ended; ResourceExhausted: too many call paths.
  absl::StatusOr<TreeSnapshot> SinceStart(std::optional<uint64_t> java_tid);

  // `window`: a number not used before; `java_tid`: of the thread that opens it. That thread waits
  // for this and for Counted.
  void Open(uint64_t window, Scope scope, uint64_t java_tid);
  // False: it is not open.
  bool Close(uint64_t window) { return windows_.erase(window) != 0; }
  // The counts of the window so far. `roots`: for the thread that opened it, only the counts in
  // these and below, as paths that begin there; null: all. Errors: NotFound: it is not open;
  // ResourceExhausted.
  absl::StatusOr<TreeSnapshot> Counted(uint64_t window, const Routines* roots = nullptr);
  // Whether what is counted has processor time (clock=cpu): each thread's up to its last probe.
  bool has_cpu_time() const { return trees_.values().has_cpu_time(); }

  // The JVM ends and nobody will ask again: threads that end are not added up, which takes as long
  // as writing them.
  void StopWatching() { trees_.Watch(nullptr); }

  void OnThreadGone(const hot::ThreadState& state) override;
  void OnNodeGone(const hot::ThreadState& state, const hot::Node& node) override;

 private:
  struct Window {
    Scope scope;
    uint64_t java_tid;
    // The counts of freed nodes, minus the counts when the window was opened.
    TreeSnapshot own = TreeSnapshot();  // of the thread that opened it
    TreeSnapshot others = TreeSnapshot();
  };
  bool Covers(uint64_t number, const Window& window, uint64_t java_tid) const;
  void AddTree(const hot::ThreadState& state, int64_t sign, TreeSnapshot& into);
  void AddOwnTree(const hot::ThreadState& state, int64_t sign, TreeSnapshot& into);
  // Adds `sign` times the current trees of all its threads.
  void AddLiveTrees(uint64_t number, int64_t sign, Window& window);
  PathValues Read(const hot::Node& node) const;
  // The sum of threads, as it is given out.
  absl::StatusOr<TreeSnapshot> Whole(TreeSnapshot sum) const;

  TreeCollector& trees_;
  const ThreadFamilies& families_;
  TreeSnapshot gone_;  // the counts of ended threads in this recording
  // Of running threads: freed nodes, minus the counts of earlier recordings.
  absl::flat_hash_map<uint64_t, TreeSnapshot> corrections_;
  absl::flat_hash_map<uint64_t, Window> windows_;
};

}  // namespace jtrace::metrics
