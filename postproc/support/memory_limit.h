// How much memory reports may take. A malicious trace may need gigabytes for a few kilobytes; then
// the reading fails with one line, and the machine does not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace jtrace::postproc {

// Bytes of memory that this process may have: the machine's, or less if its control group (cgroup
// v1 or v2) has less. 0: not known.
uint64_t MachineMemory();

// The same from the content of /proc/self/cgroup, with `root` before the paths of the groups' files
// and `physical` bytes in the machine.
uint64_t MemoryOfGroups(std::string_view groups, const std::string& root, uint64_t physical);

// The memory that traces of that many bytes together may take, on a machine of `machine` bytes (0:
// not known). Honest traces stay far below.
uint64_t MemoryForTraces(uint64_t trace_bytes, uint64_t machine);

// Bytes of a process's address space, and of its data, which has no mapped files in it.
struct ProcessMemory {
  uint64_t address_space = 0;
  uint64_t data = 0;
};
ProcessMemory UsedMemory();
// The limits that this process was started with; the greatest number: none.
ProcessMemory StartLimits();

// Of those limits the one that is reached before the data has `bytes`, as "2.0 GB (ulimit -v)"; ""
// if there is none.
std::string EarlierLimit(uint64_t bytes, const ProcessMemory& used, const ProcessMemory& limits);

// From now on allocations that would make the process's data larger than `bytes` fail with
// std::bad_alloc. May be called again, with more or less, but never beyond StartLimits. False if
// the system refuses.
bool LimitMemory(uint64_t bytes);

// "1073741824", "512m", "2G"; none if it is not a size.
std::optional<uint64_t> ParseByteSize(std::string_view text);
// "1.5 GB", "92 KB": rounded, for messages.
std::string ByteSizeText(uint64_t bytes);

}  // namespace jtrace::postproc
