// Reads the class files of a class path: folders and jars (--classes).
#pragma once

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"

namespace jtrace::postproc {

// Calls `add` with the bytes of each class file in `places`, folders and jars, in their order; jars
// in folders are not opened. Descriptions of modules and packages, and versions of classes for
// later Java releases (META-INF/versions), are left out. Files that cannot be read are counted in
// `unreadable`. An error if a place cannot be read, or has no class file.
absl::Status ReadClassFiles(absl::Span<const std::string> places,
                            absl::FunctionRef<void(absl::Span<const uint8_t> bytes)> add,
                            uint64_t& unreadable);

}  // namespace jtrace::postproc
