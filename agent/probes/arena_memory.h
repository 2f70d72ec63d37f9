// Reserves the address space of an arena: the memory that the probes write (agent/hot/layout.h).
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "agent/hot/layout.h"

namespace jtrace {

// Reserves address space for an arena whose trees may use `memory_limit` bytes (0: as much as
// references can reach) and sets up its start. Calls deeper than `max_depth` are folded. Pages
// count as memory only once they are written. Where less is available (an address space limit,
// strict overcommit), reserves less, down to 4 MB; of what a limit leaves, at most half. Never
// unmapped: compiled probes hold its address. Error: ResourceExhausted, one line with the remedy.
absl::StatusOr<hot::Arena*> ReserveArena(uint64_t memory_limit, uint32_t max_depth);

// Sets up the arena's start in zeroed memory of `bytes`, at least hot::kFirstChunk.
hot::Arena* InitializeArena(void* memory, uint64_t bytes, uint32_t max_depth = 1000);

// Bytes allocated as chunks, including recycled ones, but not those of rings (record=log).
uint64_t ArenaBytesUsed(const hot::Arena& arena);

// The address space that a limit (ulimit -v) leaves to the process.

// Bytes of address space that the process may still map: RLIMIT_AS (ulimit -v) less the mapped
// part; UINT64_MAX without a limit. Any thread.
uint64_t AddressSpaceLeft();

}  // namespace jtrace
