// Writes the threads' totals of metrics that are not charged to call paths into a chunk. Created on
// the thread that starts a recording, then used on the writer thread only.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "agent/jvm/thread_tree_groups.h"
#include "agent/metrics/jvm_metrics.h"
#include "agent/trace/chunk_source.h"

namespace jtrace::metrics {

class ThreadTotalsSource : public trace::ChunkSource {
 public:
  // `numbers`: the metrics. `live`: the threads have counts that belong to no recording.
  ThreadTotalsSource(metrics::JvmMetrics& metrics, std::vector<uint32_t> numbers, bool live,
                     jvm::ThreadTreeGroups& groups, trace::RecordEncoder& encoder);
  ~ThreadTotalsSource() override;
  void AddChanges(uint64_t time_ns, proto::Chunk& chunk) override;
  void BeginFile() override;

 private:
  using Key = std::pair<uint32_t, uint32_t>;  // thread's number in the trace, metric

  // Adds what was counted since the last call to the totals.
  void ReadAll();
  void AddThread(const metrics::ThreadValues& thread);
  void AddProcess();
  // Adds what the kernel counted for the process and for no Java thread: the JVM's threads, the
  // agent's, and what Java threads used after their last reading.
  void AddRestOfProcess();
  void Add(uint32_t thread, uint32_t metric, int64_t delta);

  metrics::JvmMetrics& metrics_;
  const std::vector<uint32_t> numbers_;
  uint64_t mask_ = 0;
  jvm::ThreadTreeGroups& groups_;
  trace::RecordEncoder& encoder_;
  bool counts_ = false;  // false: readings only find out where counting begins
  uint64_t ended_cursor_ = 0;
  absl::flat_hash_map<uint64_t, metrics::Values> last_;  // by Thread.threadId()
  metrics::Values last_process_ = {};
  metrics::Values of_threads_ = {};  // of the kernel's metrics, since the last AddRestOfProcess
  absl::btree_map<Key, int64_t> totals_;  // of the file
  absl::flat_hash_map<Key, int64_t> reported_;
};

}  // namespace jtrace::metrics
