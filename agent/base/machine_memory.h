// The default of memory=: a share of the spare memory of the machine or the container.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace jtrace {

// Returns how many bytes the process may still use before the machine, or a control group (cgroup
// v1 or v2) of the process, has none left; memory that only caches files is free. 0: unknown.
uint64_t AvailableMemory();

// The same from the contents of /proc/meminfo and /proc/self/cgroup, with the groups' files below
// `mount`.
uint64_t AvailableMemoryOf(absl::string_view meminfo, absl::string_view groups,
                           const std::string& mount);

// Returns the default memory for call trees, in bytes. `available` bytes are free (0: unknown), and
// the Java heap may grow to `heap` bytes: the default is half of what the heap leaves, from 64 MiB
// to 1 GiB, in multiples of 16 MiB.
uint64_t DefaultTreeMemory(uint64_t available, uint64_t heap);

}  // namespace jtrace
