// The trace file: open, append frames, close. One thread at a time: that of a start, then the
// writer's.
//
// A frame is written by one write() if the kernel accepts it whole, so that a killed process leaves
// at most one incomplete frame at the end (proto/FORMAT.md).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "agent/base/agent_file.h"

struct ZSTD_CCtx_s;

namespace jtrace::trace {

// Replaces %p (`pid`), %t (`now_unix_s`, in local time), %n (`number`), %{ENV} and %% in a name.
std::string ExpandPath(absl::string_view pattern, int64_t pid, int64_t now_unix_s, int number);

// Returns `pattern` with ".%n" before its ending if it has no %n: for more than one file.
std::string NumberedPattern(absl::string_view pattern);

// Returns `path` as an absolute path, by the current folder.
std::string AbsolutePath(const std::string& path);

class TraceFile {
 public:
  // Opens the file and locks it; its content stays until Begin. If another live process holds the
  // lock, ".PID" is inserted before the file name's ending. On file systems without locks it is
  // opened without one. Symbolic links in the last part of the path are not followed.
  // ResourceExhausted: the disk is full.
  static absl::StatusOr<std::unique_ptr<TraceFile>> Open(std::string path);
  // Makes the file private (mode 0600) and empty, and writes the header; once.
  absl::Status Begin();
  // Calls Open and Begin.
  static absl::StatusOr<std::unique_ptr<TraceFile>> Create(std::string path);
  // Removes a new file that was never begun.
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  // Makes room for `bytes` on a full disk (or quota) by removing other files; false: it cannot.
  // Called on the thread that writes, a few times for each write. Without such a function a full
  // disk is an error at once.
  using MakeRoom = std::function<bool(uint64_t bytes)>;
  void WhenFull(MakeRoom make_room) { make_room_ = std::move(make_room); }

  // Compresses and appends one frame. After an error of a write (disk full, file-size limit) every
  // further call returns it.
  absl::Status Append(absl::string_view payload);

  // DataLoss, one line with the remedy, if path() no longer has everything that was appended: the
  // file was removed, moved or made shorter meanwhile.
  absl::Status CheckKept() const;

  const std::string& path() const { return path_; }
  // Any thread.
  uint64_t bytes_written() const { return bytes_written_.load(std::memory_order_relaxed); }

 private:
  TraceFile(AgentFd fd, bool is_new, std::string path);
  absl::Status WriteAll(absl::string_view data);
  absl::Status Reopen();
  void DetectTruncation();

  AgentFd fd_;
  bool is_new_;
  bool begun_ = false;
  std::string path_;
  MakeRoom make_room_;
  ZSTD_CCtx_s* compressor_;
  std::string buffer_;
  std::atomic<uint64_t> bytes_written_{0};
  uint64_t bytes_cut_ = 0;  // of these, cut off by another process
  absl::Status failed_;
};

}  // namespace jtrace::trace
