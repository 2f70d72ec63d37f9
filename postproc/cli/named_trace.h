// The trace file that an agent names. It may be another user's agent, and root may have sent the
// request.
#pragma once

#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "postproc/cli/jvm_process.h"
#include "postproc/cli/root_folder.h"

namespace jtrace::control {

// Opens the file that the agent's answer to "flush" names: an absolute path of the JVM to a regular
// file of its user, below the JVM's root folder whatever links are in the path. PermissionDenied or
// NotFound, one line.
absl::StatusOr<Descriptor> OpenNamedFile(const JvmProcess& jvm,
                                         std::span<const std::string> answer);

// A path to the open file for the program that replaces this process: the file stays open, so
// changes of names in the meantime have no effect.
absl::StatusOr<std::string> KeptOpen(const Descriptor& file);

// Both.
absl::StatusOr<std::string> OpenNamedTrace(const JvmProcess& jvm,
                                           std::span<const std::string> answer);

}  // namespace jtrace::control
