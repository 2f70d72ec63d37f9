// Whether a process has a file open, according to /proc.
#pragma once

#include <cstdint>
#include <string>

namespace jtrace::postproc {

// False too if the process is another user's, or the system has no /proc.
bool HasFileOpen(int64_t pid, const std::string& path);

}  // namespace jtrace::postproc
