// The folder of the control sockets, which only this user can use, whatever others put into /tmp.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/base/agent_file.h"

namespace jtrace::control {

// Makes the folder with mode 0700, or checks the existing one. PermissionDenied if it is a link,
// belongs to another user or is open to others.
absl::Status OwnFolder(const std::string& folder);

// Listens at `path`, whose folder OwnFolder has checked. Removes a socket that an ended process of
// the same pid has left there; AlreadyExists if a process listens at it.
absl::StatusOr<AgentFd> ListenAt(const std::string& path);

// Removes the sockets that killed JVMs of this user have left in `folder`: those named for a pid
// that no process has and at which no process listens (in a container a pid can be another's). The
// socket of a pid in use stays; ListenAt replaces it if needed.
void RemoveStaleSockets(const std::string& folder);

// Whether the process at the other end of the connection runs as our user, or as root.
bool IsPeerAllowed(int connection);

}  // namespace jtrace::control
