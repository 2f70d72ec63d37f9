// Locks of files, which the system lets go when a process is killed.
#pragma once

#include <sys/file.h>

#include <cerrno>

namespace jtrace::postproc {

// Takes the lock (LOCK_SH or LOCK_EX) of an open file without waiting. False only if another holds
// it: some file systems have no locks, and there everybody goes on without.
inline bool TakeLock(int fd, int kind) {
  return flock(fd, kind | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

}  // namespace jtrace::postproc
