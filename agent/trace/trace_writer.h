// Writes the trace on its own thread, the "writer thread": polls the sources and seals a chunk
// about every second. The last chunk is written by Stop. The thread is not a Java thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "agent/base/clock.h"
#include "agent/base/worker_thread.h"
#include "agent/signal_safe/doorbell.h"
#include "agent/trace/chunk_source.h"
#include "agent/trace/chunk_split.h"
#include "agent/trace/record_encoder.h"
#include "agent/trace/trace_file.h"

namespace jtrace::trace {

class TraceWriter {
 public:
  // Runs on `thread`, which does nothing else until the stop.
  // Sources are polled every `poll_period`, and when `doorbell` is rung: often enough that no ring
  // fills in between.
  // `on_failure` is called at most once a file, on the thread that writes, when the file can no
  // longer be written or there is no memory to do so. All references must outlive the thread.
  TraceWriter(WorkerThread& thread, const RecordingClock& clock, RecordEncoder& encoder,
              TraceFile& file, std::vector<ChunkSource*> sources, absl::Duration poll_period,
              signal_safe::Doorbell& doorbell, std::function<void(const absl::Status&)> on_failure);
  // Stops with an empty SessionEnd if Stop was not called.
  ~TraceWriter();
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  // Starts the thread. `first` is the trace's first record.
  void Start(proto::SessionStart first);
  // Ends the work on the thread, then polls and seals a last time on the caller's, with the
  // SessionEnd that `finish` fills in. Any thread but the writer's. Returns the first write error.
  absl::Status Stop(const std::function<void(proto::SessionEnd&)>& finish);

  // Writes everything recorded before the call. Any thread but the writer's. Returns the first
  // write error, if any.
  absl::Status Flush();
  // Ends the file as `finish` says and continues in `next`, which must outlive the thread and
  // begins with `first`. Any thread but the writer's. An error concerns the old file.
  absl::Status NextFile(TraceFile& next, proto::SessionStart first,
                        const std::function<void(proto::SessionEnd&)>& finish);
  // Runs `task` on the writer thread, the only one that may query the sources, and waits for its
  // end; from Stop on it runs on the caller's thread. Not while Stop runs: the owner's lock sees to
  // that, here and for Flush and NextFile. Throws what `task` throws.
  void Call(absl::FunctionRef<void()> task);

  // CPU time of the writer thread in this recording.
  uint64_t cpu_ns() const { return cpu_ns_.load(std::memory_order_relaxed); }

 private:
  // What other threads ask of the writer thread.
  struct Requests {
    std::mutex mutex;  // guards stopping and task
    std::condition_variable answered;
    bool stopping = false;
    std::function<void()> task;  // null: none
  };

  void Run();
  // Runs `work`. An exception that leaves it turns the agent off. When the agent is off, the trace
  // ends here, because what was half taken from the sources cannot be written.
  void Guarded(absl::FunctionRef<void()> work);
  // Waits for the next poll, task or ring; true if the thread must end.
  bool WaitForPoll();
  void RunTask();
  void Poll();
  // Writes a chunk. `finish` fills in the SessionEnd in a file's last chunk, when all else is
  // known; null for other chunks.
  void WriteChunk(const std::function<void(proto::SessionEnd&)>* finish);
  void Number(proto::Chunk& part);
  // `size`: the part's size, which ByteSizeLong has just computed (GetCachedSize).
  void Write(proto::Chunk& part, size_t size);
  bool IsChunkDue(uint64_t now) const;
  void ReportFileBytes();

  WorkerThread& thread_;
  const RecordingClock& clock_;
  RecordEncoder& encoder_;
  TraceFile* file_;  // the writer thread's own
  const std::vector<ChunkSource*> sources_;
  const absl::Duration poll_period_;
  signal_safe::Doorbell& doorbell_;  // rung for requests_, too
  const std::function<void(const absl::Status&)> on_failure_;

  Requests requests_;
  bool started_ = false;  // and not stopped; guarded by JvmSession::lifecycle_
  std::atomic<uint64_t> cpu_ns_{0};

  // The writer thread's own.
  ChunkSplitter splitter_;
  std::unique_ptr<proto::SessionStart> first_;
  proto::Chunk own_;  // what the sources added since the last seal
  // The last part, serialized. Kept, because to free and allocate it again costs page faults.
  std::vector<uint8_t> payload_;
  uint64_t sequence_ = 0;
  uint64_t last_seal_ns_ = 0;
  uint64_t seal_cpu_ns_ = 0;  // CPU time of the last seal
  absl::Status status_;
};

}  // namespace jtrace::trace
