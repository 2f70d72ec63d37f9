#include "agent/samples/thread_slot_pool.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace jtrace::samples {
namespace {

constexpr uint32_t kRingBytes = 256 * 1024;

size_t ResidentPages(const void* begin, size_t bytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> resident(bytes / page);
  EXPECT_EQ(mincore(const_cast<void*>(begin), bytes, resident.data()), 0);
  return static_cast<size_t>(std::count_if(resident.begin(), resident.end(),
                                           [](unsigned char of_page) { return of_page & 1; }));
}

// Address space that only sanitizers' shadows also use: pages are counted, not memory.
TEST(SlotPoolTest, FreeSlotsKeepLittleMemory) {
  const auto pool = *ThreadSlotPool::Create({16, kRingBytes, 2048, false});
  ThreadSlot* const slot = pool->Allocate();
  ASSERT_NE(slot, nullptr);
  std::memset(slot->ring.storage(), 1, kRingBytes);
  std::memset(slot->chain_storage, 1, slot->chain_capacity * sizeof(Frame));
  std::memset(static_cast<void*>(slot->last_walk), 1, sizeof *slot->last_walk);
  const auto kept = [&] {
    return ResidentPages(slot->ring.storage(), kRingBytes) +
           ResidentPages(slot->chain_storage, slot->chain_capacity * sizeof(Frame)) +
           ResidentPages(slot->last_walk, sizeof *slot->last_walk);
  };
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  EXPECT_GE(kept() * page, kRingBytes + sizeof *slot->last_walk);
  pool->Free(slot);
  EXPECT_LE(kept() * page, 5 * 16 * 1024 + 5 * page);
  EXPECT_EQ(pool->Allocate(), slot);
}

}  // namespace
}  // namespace jtrace::samples
