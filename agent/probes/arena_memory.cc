#include "agent/probes/arena_memory.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace jtrace {
namespace {

constexpr uint64_t kMostBytes = 64ull << 30;
// Nodes keep their depth in 16 bits.
constexpr uint32_t kMostDepth = 60'000;
// For the trees, after the arena's start.
constexpr uint64_t kLeastBytes = 4ull << 20;

}  // namespace

absl::StatusOr<hot::Arena*> ReserveArena(uint64_t memory_limit, uint32_t max_depth) {
  uint64_t bytes = kMostBytes;
  if (memory_limit != 0) bytes = std::clamp(memory_limit, kLeastBytes, kMostBytes);
  // A program under a limit needs the other half: stacks of threads, its heap, its code.
  const uint64_t left = AddressSpaceLeft();
  const uint64_t ours = left / 2;
  bytes = std::min(bytes, ours > hot::kFirstChunk ? ours - hot::kFirstChunk : 0);
  for (; bytes >= kLeastBytes; bytes /= 2) {
    void* memory = mmap(nullptr, hot::kFirstChunk + bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) continue;
    // It is filled from the front. Probes walk trees in the program's order: for a node that is in
    // no cache, much of the cost is finding its page.
    madvise(memory, hot::kFirstChunk + bytes, MADV_HUGEPAGE);
    return InitializeArena(memory, hot::kFirstChunk + bytes, max_depth);
  }
  constexpr uint64_t kMegabyte = 1 << 20;
  return absl::ResourceExhaustedError(absl::StrCat(
      "no address space for the call trees, which reserve ",
      (hot::kFirstChunk + kLeastBytes) / kMegabyte, " MB (few of them become memory)",
      left == std::numeric_limits<uint64_t>::max()
          ? "; allow overcommit (sysctl vm.overcommit_memory=0)"
          : absl::StrCat(" where ulimit -v leaves ", left / kMegabyte,
                         " MB, half of them for the program; raise it (ulimit -v unlimited)"),
      ", or record only samples: mode=samples"));
}

hot::Arena* InitializeArena(void* memory, uint64_t bytes, uint32_t max_depth) {
  auto* arena = static_cast<hot::Arena*>(memory);
  arena->lost_state.current = reinterpret_cast<uintptr_t>(&arena->lost_node);
  arena->no_slot = arena->lost_state.current;
  arena->lost_node.slots = reinterpret_cast<uintptr_t>(&arena->no_slot);
  arena->next = hot::kFirstChunk;
  const uint64_t for_trees = bytes - hot::kFirstChunk;
  arena->limit = bytes - for_trees / 16;
  arena->reserve_limit = bytes - for_trees / 32;
  arena->state_limit = bytes;
  arena->log_most = for_trees / 4;
  arena->max_depth = std::clamp(max_depth, 1u, kMostDepth);
  return arena;
}

uint64_t ArenaBytesUsed(const hot::Arena& arena) {
  const uint64_t rings = hot::ReadRelaxed(arena.log_large) + hot::ReadRelaxed(arena.log_small);
  const uint64_t all = hot::ReadRelaxed(arena.next) - hot::kFirstChunk;
  return all - std::min(all, rings);
}

uint64_t AddressSpaceLeft() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::numeric_limits<uint64_t>::max();
  }
  uint64_t pages = 0;  // the first number: all that is mapped
  std::ifstream("/proc/self/statm") >> pages;
  const uint64_t mapped = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return limit.rlim_cur > mapped ? limit.rlim_cur - mapped : 0;
}

}  // namespace jtrace
