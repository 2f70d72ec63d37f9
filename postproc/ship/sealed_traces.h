// Which files of a folder are traces that nobody writes any more.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace jtrace::ship {

struct SealedTrace {
  std::string name;  // without its folder
  std::string path;
  // Another file of the same name differs in one of these.
  uint64_t inode = 0;
  int64_t modified_ns = 0;
  uint64_t size = 0;
};

// What the folder has of traces.
struct FolderContents {
  std::vector<SealedTrace> sealed;      // the oldest first
  size_t recording = 0;                 // others, that are still being written
  std::vector<std::string> unreadable;  // paths: of another user
};

// The agent holds a lock on its file until the file is sealed, and the system lets it go when a JVM
// is killed. So a trace is sealed if nobody has that lock, and it did not change for `settled`,
// because copies have none. Files that end in .part or begin with a dot are not looked at, nor what
// does not begin as a trace does.
absl::StatusOr<FolderContents> FindTraces(const std::string& folder, absl::Time now,
                                          absl::Duration settled);

// The file of that path is that trace, and has not changed since it was looked at.
bool IsStillThere(const SealedTrace& trace);
// An open file.
bool BeginsAsTrace(int fd);

// Holds the agent's lock on a sealed trace: meanwhile a JVM that would record into a file of that
// name takes another one.
class TraceLock {
 public:
  // Null: another process has it, or the file is another one now.
  static std::unique_ptr<TraceLock> Take(const SealedTrace& trace);
  ~TraceLock();
  TraceLock(const TraceLock&) = delete;
  TraceLock& operator=(const TraceLock&) = delete;

 private:
  explicit TraceLock(int fd) : fd_(fd) {}
  const int fd_;
};

}  // namespace jtrace::ship
