#include "agent/probes/chunk_recycler.h"

#include <sys/mman.h>

#include <atomic>
#include <cstring>

namespace jtrace {

void FreeChunk(hot::Arena* arena, hot::Chunk& chunk) {
  constexpr uint64_t kGiveBackBytes = 1 << 20;
  const uint32_t size_class = chunk.size_class;
  const uint64_t bytes = hot::ChunkBytes(size_class);
  char* end = reinterpret_cast<char*>(&chunk) + bytes;
  char* page = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(&chunk) + 4095) & ~4095ull);
  // Zeroed either way; big chunks without writing to pages that may never have been touched.
  if (bytes >= kGiveBackBytes && madvise(page, (end - page) & ~4095ull, MADV_DONTNEED) == 0) {
    std::memset(&chunk, 0, page - reinterpret_cast<char*>(&chunk));
    char* rest = page + ((end - page) & ~4095ull);
    std::memset(rest, 0, end - rest);
  } else {
    std::memset(&chunk, 0, bytes);
  }
  chunk.size_class = size_class;
  std::atomic_ref<uint64_t> free(arena->free[size_class]);
  uint64_t head = free.load(std::memory_order_relaxed);
  do {
    hot::WriteRelaxed(chunk.next, static_cast<hot::Ref>(head));
  } while (!free.compare_exchange_weak(head, (head & ~0xFFFFFFFFull) | hot::RefOf(arena, &chunk)));
}

}  // namespace jtrace
