// The trace file that an agent names. It may be another user's agent, and root may have asked.
#pragma once

#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "postproc/cli/jvm_process.h"

namespace jtrace::control {

// Opens the file that the agent's answer to "flush" names: a whole path of the JVM's own, with a
// regular file of its user's there, below the JVM's root folder whatever links lie on the way.
// Returns a path to the open file for a program that this process becomes: it stays open, and
// whoever changes the names meanwhile changes nothing. PermissionDenied or NotFound, one line.
absl::StatusOr<std::string> OpenNamedTrace(const JvmProcess& jvm,
                                           std::span<const std::string> answer);

}  // namespace jtrace::control
