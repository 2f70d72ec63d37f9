// Finds the runs of calls in a thread's logs, and reduces them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "postproc/reader/call_reducer.h"
#include "postproc/reader/chunk_plan.h"

namespace jtrace::postproc {

// A run ends at a mark, before an event or sample of the thread, and where calls depend on what was
// open before it.
class LogRunFinder {
 public:
  LogRunFinder(ThreadLogs& logs, CallReducer& reducer, LeastRun least)
      : logs_(logs), reducer_(reducer), least_(least), cursors_(logs.cursors) {}

  // Adds the runs of calls that are not later than `until`, from where the last call stopped.
  void FindUntil(int64_t until);

 private:
  void FindOne(int64_t until);
  bool Reduce(int64_t until);
  bool FindMoreCalls(int64_t until);
  bool AtCalls(int64_t until);
  LogCursor& cursor() { return cursors_[log_]; }

  // After that many further runs that were not worth making, no more are tried.
  static constexpr int kPatience = 64;

  ThreadLogs& logs_;
  CallReducer& reducer_;
  const LeastRun least_;
  std::vector<LogCursor> cursors_;
  size_t log_ = 0;
  int patience_ = kPatience;
  std::vector<LogCall> calls_;
};

}  // namespace jtrace::postproc
