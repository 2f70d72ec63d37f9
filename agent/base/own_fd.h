// File descriptors of the agent's in a program that may close them.
//
// Daemons close every descriptor that they find (daemon(3), closefrom(3), loops up to the limit).
// The number of one of ours is then given to the next file that the program opens, which must not
// be written to, read from or closed by us.
#pragma once

#include <sys/types.h>

namespace jtrace {

// Gives `fd` a high number that is not used again soon, whatever the program closes, and closes the
// low one. `fd` itself if there is none to be had, or if it is below 0; errno stays.
int WithHighNumber(int fd);

// A file descriptor that knows its file, and closes itself while it is that file's. For files,
// sockets and pipes; those of anonymous inodes (eventfd, perf events) all look the same.
class OwnFd {
 public:
  OwnFd() = default;
  // Takes `fd` over, under a high number. Below 0: none.
  explicit OwnFd(int fd);
  OwnFd(OwnFd&& other) noexcept;
  OwnFd& operator=(OwnFd&& other) noexcept;
  ~OwnFd();

  int get() const { return fd_; }
  // Whether it was opened.
  bool ok() const { return fd_ >= 0; }
  // Whether it still is the file that it was opened as: one system call, to be made right before
  // each use. A program can close it in between; only one that closes what it did not open does.
  bool IsOurs() const;
  // Whether both were opened as one file.
  bool SameFile(const OwnFd& other) const;

 private:
  int fd_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace jtrace
