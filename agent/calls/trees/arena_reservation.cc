#include "agent/calls/trees/arena_reservation.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace jtrace::calls {
namespace {

constexpr uint64_t kMaxBytes = 64ull << 30;
// Nodes keep their depth in 16 bits.
constexpr uint32_t kMaxDepth = 60'000;
// The least address space for trees, after the arena's start.
constexpr uint64_t kMinBytes = 4ull << 20;

}  // namespace

absl::StatusOr<signal_safe::Arena*> ReserveArena(uint64_t memory_limit, uint32_t max_depth) {
  uint64_t bytes = kMaxBytes;
  if (memory_limit != 0) bytes = std::clamp(memory_limit, kMinBytes, kMaxBytes);
  // A program under a limit needs the other half: stacks of threads, its heap, its code.
  const uint64_t left = AddressSpaceLeft();
  const uint64_t ours = left / 2;
  bytes = std::min(bytes, ours > signal_safe::kFirstChunk ? ours - signal_safe::kFirstChunk : 0);
  for (; bytes >= kMinBytes; bytes /= 2) {
    void* memory = mmap(nullptr, signal_safe::kFirstChunk + bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) continue;
    // Huge pages waste little, because the arena is filled from the front. Probes walk trees in the
    // program's order: for a node that is in no cache, much of the cost is the TLB miss.
    madvise(memory, signal_safe::kFirstChunk + bytes, MADV_HUGEPAGE);
    return InitializeArena(memory, signal_safe::kFirstChunk + bytes, max_depth);
  }
  constexpr uint64_t kMegabyte = 1 << 20;
  return absl::ResourceExhaustedError(absl::StrCat(
      "no address space for the call trees, which reserve ",
      (signal_safe::kFirstChunk + kMinBytes) / kMegabyte, " MB (few of them become memory)",
      left == std::numeric_limits<uint64_t>::max()
          ? "; allow overcommit (sysctl vm.overcommit_memory=0)"
          : absl::StrCat(" where ulimit -v leaves ", left / kMegabyte,
                         " MB, half of them for the program; raise it (ulimit -v unlimited)"),
      ", or record only samples: mode=samples"));
}

signal_safe::Arena* InitializeArena(void* memory, uint64_t bytes, uint32_t max_depth) {
  auto* arena = static_cast<signal_safe::Arena*>(memory);
  arena->sink_state.current = reinterpret_cast<uintptr_t>(&arena->sink_node);
  arena->no_slot = arena->sink_state.current;
  arena->sink_node.slots = reinterpret_cast<uintptr_t>(&arena->no_slot);
  arena->next = signal_safe::kFirstChunk;
  const uint64_t for_trees = bytes - signal_safe::kFirstChunk;
  arena->limit = bytes - for_trees / 16;
  arena->reserve_limit = bytes - for_trees / 32;
  arena->state_limit = bytes;
  arena->log_most = for_trees / 4;
  arena->max_depth = std::clamp(max_depth, 1u, kMaxDepth);
  return arena;
}

uint64_t ArenaBytesUsed(const signal_safe::Arena& arena) {
  const uint64_t rings =
      signal_safe::ReadRelaxed(arena.log_large) + signal_safe::ReadRelaxed(arena.log_small);
  const uint64_t all = signal_safe::ReadRelaxed(arena.next) - signal_safe::kFirstChunk;
  return all - std::min(all, rings);
}

uint64_t AddressSpaceLeft() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::numeric_limits<uint64_t>::max();
  }
  uint64_t pages = 0;  // statm's first number: all mapped pages
  std::ifstream("/proc/self/statm") >> pages;
  const uint64_t mapped = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return limit.rlim_cur > mapped ? limit.rlim_cur - mapped : 0;
}

}  // namespace jtrace::calls
