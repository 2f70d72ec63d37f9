// Whether a file that is to be written belongs only to the program's user.
#pragma once

#include <sys/types.h>

#include <string>

#include "absl/status/status.h"

namespace jtrace {

// Whether the open file may be overwritten: a regular file of this user with one name, or a device
// such as /dev/null. In a folder that others can write to, it may be one that another user put
// there to read along, or another user's that a privileged program should damage.
absl::Status CheckOwnFile(int fd);

// Why such a file could not be opened without waiting and without following links, by errno: paths
// that open as something other than a file fail with errors whose usual texts are about devices or
// loops.
std::string WhyNotOpened(int error);

// The agent's file descriptors, in a program that may close them.
//
// Daemons close every descriptor that they find (daemon(3), closefrom(3), loops up to the limit).
// The number of one of ours is then given to the next file that the program opens; the agent must
// not write to, read from or close that file.

// Gives `fd` a high number that is not soon used again, whatever the program closes, and closes the
// low one. Returns `fd` itself if no such number is available or if it is below 0; errno is kept.
int WithHighNumber(int fd);

// A file descriptor that knows its file, and closes itself only while it refers to that file. For
// files, sockets and pipes; those of anonymous inodes (eventfd, perf events) all look the same.
class OwnFd {
 public:
  OwnFd() = default;
  // Takes ownership of `fd`, under a high number. Below 0: none.
  explicit OwnFd(int fd);
  OwnFd(OwnFd&& other) noexcept;
  OwnFd& operator=(OwnFd&& other) noexcept;
  ~OwnFd();

  int get() const { return fd_; }
  // Whether it was opened.
  bool ok() const { return fd_ >= 0; }
  // Whether it still refers to the file that it was opened as: one system call, to be made right
  // before each use. A program can close it in between; only one that closes what it did not open
  // does.
  bool IsOurs() const;
  // Whether both were opened as the same file.
  bool SameFile(const OwnFd& other) const;

 private:
  int fd_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace jtrace
