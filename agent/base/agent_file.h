// Checks of files before they are written, and the agent's own file descriptors. Cold code.
#pragma once

#include <sys/types.h>

#include <string>

#include "absl/status/status.h"

namespace jtrace {

// Returns OK if the open file may be overwritten: a regular file of this user with one name, or a
// device such as /dev/null. In a folder that others can write to, another user may have put a file
// of his own there, to read what is written, or a link to a file that is to be damaged.
absl::Status CheckAgentFile(int fd);

// Returns why a file could not be opened, from the errno of an open that neither waits nor follows
// links. Other paths than those of regular files fail with errors whose usual texts are about
// devices or loops.
std::string OpenErrorText(int error);

// The agent's file descriptors, in a program that may close them.
//
// Daemons close every descriptor that they find (daemon(3), closefrom(3), loops up to the limit).
// The kernel then gives the number of the agent's descriptor to the next file that the program
// opens; the agent must not write to, read from or close that file.

// Gives `fd` a high number that is not soon used again, whatever the program closes, and closes the
// low one. Returns `fd` itself if no such number is available or if it is below 0; errno is kept.
int MoveToHighFd(int fd);

// A file descriptor that knows its file, and closes itself only while it refers to that file. For
// files, sockets and pipes; those of anonymous inodes (eventfd, perf events) all look the same.
class AgentFd {
 public:
  AgentFd() = default;
  // Takes ownership of `fd`, under a high number. Below 0: none.
  explicit AgentFd(int fd);
  AgentFd(AgentFd&& other) noexcept;
  AgentFd& operator=(AgentFd&& other) noexcept;
  ~AgentFd();

  int get() const { return fd_; }
  // Whether it was opened.
  bool ok() const { return fd_ >= 0; }
  // Returns whether the descriptor still refers to the file that it was opened as. One system call,
  // to be made right before each use; a program that closes foreign descriptors can still close it
  // in between.
  bool IsOurs() const;
  // Whether both were opened as the same file.
  bool SameFile(const AgentFd& other) const;

 private:
  int fd_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace jtrace
