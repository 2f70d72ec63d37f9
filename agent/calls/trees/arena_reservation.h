// Makes the arena, the memory that the probes write (agent/signal_safe/arena.h).
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "agent/signal_safe/arena.h"

namespace jtrace::calls {

// Reserves address space for an arena whose trees may use `memory_limit` bytes (0: 64 GB, also the
// maximum) and sets up its start. Calls deeper than `max_depth` are folded. A page takes memory
// only once it is written. Where less is available (ulimit -v, strict overcommit), reserves less,
// down to 4 MB, and at most half of what ulimit -v leaves. The arena is never unmapped: compiled
// probes hold its address. Error: ResourceExhausted, one line with the remedy.
absl::StatusOr<signal_safe::Arena*> ReserveArena(uint64_t memory_limit, uint32_t max_depth);

// Sets up the arena's start in zeroed memory of `bytes`, at least signal_safe::kFirstChunk.
signal_safe::Arena* InitializeArena(void* memory, uint64_t bytes, uint32_t max_depth = 1000);

// Returns the bytes of all chunks, recycled ones too, but not those of rings (record=log).
uint64_t ArenaBytesUsed(const signal_safe::Arena& arena);

// Bytes of address space that the process may still map: RLIMIT_AS (ulimit -v) less the mapped
// part; UINT64_MAX without a limit. Any thread.
uint64_t AddressSpaceLeft();

}  // namespace jtrace::calls
