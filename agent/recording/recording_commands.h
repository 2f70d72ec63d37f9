// What a recording is asked while it runs. One command at a time, under JvmSession's lock.
#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/metrics/tree_windows.h"
#include "agent/recording/recording_parts.h"

namespace jtrace {

// The action due because of duration=, samples=, loop= or a failure, and the latest time of the
// next check.
struct Due {
  enum What { kNothing, kStop, kNextFile, kCleanUp, kAddProbes } what = kNothing;
  absl::Time next = absl::InfiniteFuture();
};

class RecordingCommands {
 public:
  // Between the recording's Begin and its end.
  explicit RecordingCommands(RecordingParts& parts) : parts_(parts) {}

  // Writes everything recorded so far; returns the file's path.
  absl::StatusOr<std::string> Flush();
  // Ends the file and continues in another; returns the path of the ended one. After an error the
  // recording continues in the old one, and a loss says so.
  absl::StatusOr<std::string> NextFile();
  // blocks=on
  bool CountsBlocks() const;
  // The activations of now leave their blocks where they are: counts are read next. Does nothing on
  // a thread that the JVM does not know.
  void NoteOpenActivations();
  std::string DescribeStatus();
  // The losses so far (recording_summary.h).
  std::string DescribeWarnings() const;
  // Hooks are added to a recording that began without them: from now on it has records of compiled
  // code, which name their callers, unless codes= leaves them out. On a thread that the JVM knows.
  void RecordCode();
  // Calls `ask` on the writer thread. FailedPrecondition: the recording keeps no call trees.
  absl::Status QueryTrees(const std::function<void(metrics::TreeWindows&)>& ask);
  Due WhatIsDue(absl::Time now);

 private:
  RecordingParts& parts_;
};

}  // namespace jtrace
