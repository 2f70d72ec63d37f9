// Reads the class files of a class path: folders and jars (--classes).
#pragma once

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"

namespace jtrace::postproc {

// Calls `add` with the bytes of each class file in `places`, folders and jars, in their order; jars
// in folders are not opened. Of a class that a multi-release jar has for several Java releases, the
// one that a JVM of `release` loads counts; 0: the release is unknown, and the class is that for
// all. Descriptions of modules and packages are left out. Files that cannot be read are counted in
// `unreadable`. An error if a place cannot be read, or has no class file.
absl::Status ReadClassFiles(absl::Span<const std::string> places, int64_t release,
                            absl::FunctionRef<void(absl::Span<const uint8_t> bytes)> add,
                            uint64_t& unreadable);

}  // namespace jtrace::postproc
