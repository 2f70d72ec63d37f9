// A file as a gzip member.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace jtrace::ship {

absl::Status GzipFile(const std::string& from, const std::string& to);

}  // namespace jtrace::ship
