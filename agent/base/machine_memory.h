// The default of memory=: a share of the spare memory of the machine or the container.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace jtrace {

// Bytes that the process may still use before the machine, or a control group (cgroup v1 or v2)
// that it is in, has none left; memory that only caches files counts as free. 0: not known.
uint64_t AvailableMemory();

// The same from the contents of /proc/meminfo and /proc/self/cgroup, with the groups' files below
// `mount`.
uint64_t AvailableMemoryOf(absl::string_view meminfo, absl::string_view groups,
                           const std::string& mount);

// The default for call trees where so many bytes are available (0: not known) and the Java heap may
// grow to `heap` bytes: half of what the heap leaves, within bounds, so that the program keeps what
// it was given. Whole multiples of 16 MB.
uint64_t DefaultTreeMemory(uint64_t available, uint64_t heap);

}  // namespace jtrace
