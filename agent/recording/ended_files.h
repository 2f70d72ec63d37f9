// The files that a recording with loop= has ended, and how much of them stays (keep=).
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "agent/base/losses.h"
#include "agent/options/options.h"
#include "agent/trace/trace_file.h"

namespace jtrace {

// Only what this recording wrote is removed, and only while it is that file: same inode, time and
// size, with the lock that the agent has on a file it writes and `jtrace ship` on one it ships. A
// file that somebody has locked stays for now, and the next one is removed in its place.
//
// Any thread: the one that begins files adds them, the writer makes room on a full disk.
class EndedFiles {
 public:
  struct Sum {
    uint64_t files = 0;
    uint64_t bytes = 0;
  };
  // The bytes that are missing to what is to stay free on the file system of a folder.
  using MissingSpace = std::function<uint64_t(const std::string& folder)>;

  // What is removed is a loss.
  explicit EndedFiles(Losses& losses, MissingSpace missing_space = MissingOfReserve);

  // Without it every file stays.
  void SetKeep(const Keep& keep);
  bool has_keep() const;
  // Takes a file that is complete: closes it, and removes the oldest ones that are too many now.
  void Add(std::unique_ptr<trace::TraceFile> file);
  // The disk is full: removes the oldest ones until `bytes` are free again. False: nothing was
  // removed.
  bool MakeRoom(uint64_t bytes);

  // Those that are still there.
  Sum Left();
  Sum removed() const;

  // A twentieth of the file system, 100 MB at most.
  static uint64_t MissingOfReserve(const std::string& folder);

 private:
  struct File {
    std::string folder;
    std::string name;
    dev_t device = 0;
    ino_t inode = 0;
    timespec modified = {};
    uint64_t size = 0;
  };
  enum class Outcome { kRemoved, kNotOurs, kLocked, kFailed };

  // False: something else has its name.
  static bool Describe(std::unique_ptr<trace::TraceFile> file, File& ended);
  static bool IsSame(const File& file, const struct stat& info);
  // kFailed: errno says why.
  static Outcome Remove(const File& file);
  void ForgetMissing() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Removes the oldest ones while `more` says so, of the bytes removed so far.
  Sum RemoveWhile(const std::function<bool(uint64_t bytes)>& more)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Report(const Sum& removed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ReportFullDisk(uint64_t files);

  Losses& losses_;
  const MissingSpace missing_space_;
  mutable absl::Mutex mutex_;
  Keep keep_ ABSL_GUARDED_BY(mutex_);
  std::deque<File> files_ ABSL_GUARDED_BY(mutex_);  // the oldest first; others may have moved them
  uint64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;      // of these
  Sum removed_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace jtrace
