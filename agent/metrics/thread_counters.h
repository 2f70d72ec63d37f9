// The counters of all threads (S5.1, S5.7): the counts of each thread, the totals of the process,
// the totals of ended threads. Which ids belong to a thread is in jvm/thread_table. Lives as long
// as the JVM, across recordings.
//
// Threads: everything from any thread, unless noted. One mutex, held for plain memory and while
// other threads' counters are read, in /proc too, so a thread's start may wait for that; only the
// mutex of the table of threads is taken inside of it. Counting itself (Count, the probes) takes
// none.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "agent/jvm/thread_table.h"
#include "agent/metrics/current_thread_totals.h"
#include "agent/metrics/kernel_readings.h"
#include "agent/metrics/metric.h"
#include "agent/metrics/user_counters.h"
#include "agent/signal_safe/metric_counts.h"

namespace jtrace::metrics {

using Values = std::array<int64_t, signal_safe::kMaxMetrics>;
inline constexpr uint64_t kAllMetrics = ~0ull;
// Metrics that are read from a file, at a thread's end only if a recording has them.
inline constexpr uint64_t kFileMetrics = 1ull << static_cast<unsigned>(Metric::kReadBytes) |
                                         1ull << static_cast<unsigned>(Metric::kWrittenBytes);

// A thread's state when it was read.
struct ThreadValues {
  uint64_t java_tid = 0;    // 0: a native thread
  pid_t os_tid = 0;         // 0: a virtual thread, or one that ended
  bool is_partial = false;  // counted only from some time after its start
  bool has_ended = false;
  Values values = {};
};

class ThreadCounters {
 public:
  // `layout`: where JavaThreads count their allocations; all 0: nowhere.
  ThreadCounters(const signal_safe::AllocLayout& layout, jvm::ThreadTable& threads);
  ThreadCounters(const ThreadCounters&) = delete;
  ThreadCounters& operator=(const ThreadCounters&) = delete;

  const signal_safe::AllocLayout& layout() const { return layout_; }
  // Stops counting allocations, if the layout is wrong. Called before any thread is counted.
  void ForgetAllocations() { layout_ = {}; }

  // ---- Threads start and end

  // Counts the calling platform thread, which starts or, if `is_partial`, has already run. Returns
  // its block; null without memory.
  signal_safe::MetricCounts* Start(uint64_t java_tid, uint64_t java_thread, bool is_partial);
  // Counts another platform thread, which has already run; does nothing if it has ended by now.
  void Adopt(uint64_t java_tid, pid_t os_tid, uint64_t java_thread);
  // Ends the calling thread: keeps its values and frees its block for another thread.
  void End();
  // Sets whether End also reads the metrics of kFileMetrics, which takes about 20 us more.
  void ReadIoAtThreadEnd(bool keep) { reads_io_at_end_.store(keep, std::memory_order_relaxed); }
  // Counts for a virtual thread, on the calling thread, until Unmount.
  void Mount(uint64_t java_tid);
  // Counts for the calling platform thread again.
  void Unmount();
  // Keeps the values of a virtual thread, which ends.
  void EndVirtual(uint64_t java_tid);
  // Returns the block of the calling thread, or of the virtual thread on it; made if there is none.
  signal_safe::MetricCounts* CountsOfThread(uint64_t java_tid, bool is_virtual,
                                            uint64_t java_thread);
  // Registers the calling thread, as a native one if it was not seen before. None: no memory.
  struct Identity {
    uint64_t java_tid = 0;  // 0: a native thread
    pid_t os_tid = 0;       // 0: a virtual thread
  };
  std::optional<Identity> RegisterThread();

  // ---- Events

  // Counts for the running thread: the mounted virtual thread, the Java thread, or a native thread,
  // which may be seen for the first time.
  void Add(uint32_t metric, int64_t delta);
  // Counts for the process, without a lock.
  void AddToProcess(uint32_t metric, int64_t delta);
  // Sets which metrics of MetricOrigin::kCounted are counted now, as a set of bits.
  void SetCounted(uint64_t metrics) { own_.SetCounted(metrics); }

  // ---- Questions, by a metric's number. NotFound: no such metric or thread; FailedPrecondition:
  // it is not counted, or not for threads; Unavailable: this system does not report it, or not for
  // virtual threads, or not for ended ones.

  // The queries that are safe in signal handlers.
  CurrentThreadTotals& current_thread() { return own_; }
  const CurrentThreadTotals& current_thread() const { return own_; }

  // Returns the total of the calling thread, or of the virtual thread on it.
  absl::StatusOr<int64_t> Own(uint32_t metric);
  // Returns the total of a Java thread, running or ended.
  absl::StatusOr<int64_t> Of(uint64_t java_tid, uint32_t metric) const;
  // Returns the total of a thread that has not ended, by the kernel's id.
  absl::StatusOr<int64_t> OfOsThread(pid_t os_tid, uint32_t metric) const;
  // Returns Thread.threadId() of such a thread; none: it is not counted, or not a Java thread.
  std::optional<uint64_t> JavaTidOf(pid_t os_tid) const;
  // Returns the total of all threads that ever ran.
  absl::StatusOr<int64_t> Process(uint32_t metric) const;
  // Returns the running threads that are counted, with these metrics (bits); unknown values are 0.
  std::vector<ThreadValues> Live(uint64_t metrics) const;
  // Returns the Java threads that ended since the last call with this cursor, initially 0; of more
  // than kEndedThreads only the last ones.
  std::vector<ThreadValues> EndedSince(uint64_t& cursor) const;
  // The totals of ended threads, Java and native ones, since counting began.
  struct Ended {
    uint64_t java_threads = 0;
    Values values = {};
  };
  Ended AllEnded() const;
  // Calls `visit` with the block of a thread that has not ended, and cannot end during the call.
  // False: there is none.
  bool WithLive(uint64_t java_tid,
                absl::FunctionRef<void(const signal_safe::MetricCounts&)> visit) const;
  // Returns OK if the metric can be queried.
  absl::Status Check(uint32_t metric) const;

  UserCounters& users() { return users_; }
  const UserCounters& users() const { return users_; }
  // Returns "alloc.bytes", "user.orders"; "": there is no such metric.
  std::string NameOf(uint32_t metric) const;

  // Number of ended threads that are still known one by one.
  static constexpr size_t kEndedThreads = 16384;

 private:
  // The last values of an ended thread.
  struct EndedThread {
    Values values;
    bool is_virtual;
    bool has_files;
  };
  signal_safe::MetricCounts* NewBlock();
  void AddLive(signal_safe::MetricCounts& block);
  // The block of a thread that is counted; null: it is not.
  signal_safe::MetricCounts* Find(uint64_t java_tid) const;
  signal_safe::MetricCounts* FindOnOsThread(pid_t os_tid) const;
  // Gives the block to this thread, and takes it from the thread that had it before.
  void SetIdentity(signal_safe::MetricCounts& block, const jvm::ThreadIdentity& identity);
  // Returns the block of a virtual thread; made if it is new. Null without memory.
  signal_safe::MetricCounts* OfVirtual(uint64_t java_tid);
  // Keeps the block's last values, and frees it. `io`: what its thread has read and written; none:
  // unknown. `is_own`: the block is the calling thread's.
  void Retire(signal_safe::MetricCounts& block, bool is_own, const std::optional<IoBytes>& io);
  void Remember(uint64_t java_tid, const EndedThread& last);
  absl::StatusOr<int64_t> OfEnded(const EndedThread& last, uint32_t metric) const;
  // Returns the calling thread's block; an unknown native thread gets one. Null without memory.
  signal_safe::MetricCounts* Current();
  // Stop and start counting the allocations of the JavaThread for the block (alloc_offset).
  void Suspend(signal_safe::MetricCounts& block);
  void Resume(signal_safe::MetricCounts& block, uint64_t java_thread);
  int64_t Read(const signal_safe::MetricCounts& block, uint32_t metric, bool is_own) const;
  Values ReadAll(const signal_safe::MetricCounts& block, uint64_t metrics, bool is_own) const;
  absl::Status StatusOf(Availability availability, uint32_t metric) const;
  static void EndOfNativeThread(void* self);

  signal_safe::AllocLayout layout_;
  jvm::ThreadTable& threads_;
  std::atomic<bool> reads_io_at_end_{false};
  UserCounters users_;
  CurrentThreadTotals own_;
  pthread_key_t at_thread_end_ = 0;
  mutable std::mutex mutex_;  // guards what follows
  std::vector<signal_safe::MetricCounts*> live_;
  std::deque<signal_safe::MetricCounts*> free_;
  absl::flat_hash_map<uint64_t, EndedThread> ended_;
  std::deque<uint64_t> ended_order_;
  uint64_t ended_count_ = 0;
  Values ended_total_ = {};  // of all threads that ended
  // What belongs to no thread. Without the mutex: the VM thread adds inside a safepoint.
  std::array<std::atomic<int64_t>, signal_safe::kMaxMetrics> process_total_ = {};
};

}  // namespace jtrace::metrics
