// The files that a recording with loop= has ended, of which keep= says how many stay.
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

// Removes only files that this recording wrote and that nobody has changed: inode, time and size
// are the same. Locks each file before, as the agent does when it writes one, and `jtrace ship`
// when it ships one. A file that is locked stays for now; the next one is removed instead.
//
// Any thread: the one that begins files adds them, the writer makes room on a full disk.
class EndedFiles {
 public:
  struct Sum {
    uint64_t files = 0;
    uint64_t bytes = 0;
  };
  // Returns how many bytes must be freed on a folder's file system so that its reserve is free.
  using SpaceShortfall = std::function<uint64_t(const std::string& folder)>;

  // Reports removed files as losses.
  explicit EndedFiles(Losses& losses, SpaceShortfall missing_space = ReserveShortfall);

  // Says how much stays; without it, every file does.
  void SetKeep(const Keep& keep);
  bool has_keep() const;
  // Takes a file that is complete: closes it, and removes the oldest ones that are too many now.
  void Add(std::unique_ptr<trace::TraceFile> file);
  // The disk is full: removes the oldest ones until `bytes` are free again. False: nothing was
  // removed.
  bool MakeRoom(uint64_t bytes);

  // Returns the ended files that are still there.
  Sum Left();
  Sum removed() const;

  // The default: a twentieth of the file system is to stay free, 100 MB at most.
  static uint64_t ReserveShortfall(const std::string& folder);

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

  // Closes and describes the file. False: it is gone, changed or replaced.
  static bool Describe(std::unique_ptr<trace::TraceFile> file, File& ended);
  static bool IsSame(const File& file, const struct stat& info);
  // kFailed: remove_error_ says why.
  Outcome Remove(const File& file) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ForgetMissing() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Removes the oldest files while `more` returns true for the bytes removed so far.
  Sum RemoveWhile(const std::function<bool(uint64_t bytes)>& more)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Report(const Sum& removed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ReportFullDisk(uint64_t files);

  Losses& losses_;
  const SpaceShortfall missing_space_;
  mutable absl::Mutex mutex_;
  Keep keep_ ABSL_GUARDED_BY(mutex_);
  std::deque<File> files_ ABSL_GUARDED_BY(mutex_);  // the oldest first; others may have moved them
  uint64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;      // of these
  Sum removed_ ABSL_GUARDED_BY(mutex_);
  int remove_error_ ABSL_GUARDED_BY(mutex_) = 0;  // errno of the last Remove that failed
};

}  // namespace jtrace
