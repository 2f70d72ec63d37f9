// The shared cache of unwind rows, and the lookup of the object that a pc belongs to.
#include <dlfcn.h>

#include <atomic>

#include "agent/hot/walk/cfi.h"

namespace jtrace::hot {
namespace {

// A direct-mapped cache without locks. An entry is two words, `key` = pc ^ row ^ object; a torn
// pair (two handlers storing at once) fails the comparison like any other miss. Mixing the object's
// unwind table address in makes rows of an unloaded library miss, should another one be mapped at
// its place.
constexpr int kCacheBits = 15;
struct Entry {
  std::atomic<uint64_t> key;
  std::atomic<uint64_t> row;
};
constinit Entry cache[1 << kCacheBits];

uint64_t Mix(uint64_t value) { return value * 0x9e37'79b9'7f4a'7c15; }

// 4 bits CFA rule, 2 bits rbp rule, 2 flags, 28 bits CFA offset, 28 bits rbp offset.
constexpr int32_t kOffsetLimit = 1 << 27;
bool Packs(int32_t offset) { return offset >= -kOffsetLimit && offset < kOffsetLimit; }

uint64_t Pack(const CfiRow& row) {
  const uint64_t mask = (1u << 28) - 1;
  return static_cast<uint64_t>(row.cfa) | static_cast<uint64_t>(row.rbp) << 4 |
         static_cast<uint64_t>(row.outermost) << 6 | static_cast<uint64_t>(row.signal_frame) << 7 |
         (static_cast<uint64_t>(static_cast<uint32_t>(row.cfa_offset)) & mask) << 8 |
         (static_cast<uint64_t>(static_cast<uint32_t>(row.rbp_offset)) & mask) << 36;
}

CfiRow Unpack(uint64_t packed) {
  CfiRow row;
  row.cfa = static_cast<CfaRule>(packed & 15);
  row.rbp = static_cast<RbpRule>(packed >> 4 & 3);
  row.outermost = (packed >> 6 & 1) != 0;
  row.signal_frame = (packed >> 7 & 1) != 0;
  row.cfa_offset = static_cast<int32_t>(static_cast<int64_t>(packed << 28) >> 36);
  row.rbp_offset = static_cast<int32_t>(static_cast<int64_t>(packed) >> 36);
  return row;
}

}  // namespace

bool FindObject(uintptr_t pc, uintptr_t* begin, uintptr_t* end) {
  dl_find_object object;
  if (_dl_find_object(reinterpret_cast<void*>(pc), &object) != 0) return false;
  *begin = reinterpret_cast<uintptr_t>(object.dlfo_map_start);
  *end = reinterpret_cast<uintptr_t>(object.dlfo_map_end);
  return true;
}

bool CfiLookup::Find(uintptr_t pc, CfiRow* row) {
  if (pc < map_begin_ || pc >= map_end_) {
    dl_find_object object;
    if (_dl_find_object(reinterpret_cast<void*>(pc), &object) != 0) return false;
    map_begin_ = reinterpret_cast<uintptr_t>(object.dlfo_map_start);
    map_end_ = reinterpret_cast<uintptr_t>(object.dlfo_map_end);
    eh_frame_hdr_ = object.dlfo_eh_frame;
  }
  if (eh_frame_hdr_ == nullptr) {
    *row = CfiRow{};
    return true;
  }
  const uint64_t object = Mix(reinterpret_cast<uintptr_t>(eh_frame_hdr_));
  Entry& entry = cache[Mix(pc) >> (64 - kCacheBits)];
  const uint64_t packed = entry.row.load(std::memory_order_relaxed);
  if ((entry.key.load(std::memory_order_relaxed) ^ packed ^ object) == pc) {
    *row = Unpack(packed);
    return true;
  }
  *row = ReadCfiRow(static_cast<const std::byte*>(eh_frame_hdr_), pc);
  if (Packs(row->cfa_offset) && Packs(row->rbp_offset)) {
    const uint64_t fresh = Pack(*row);
    entry.row.store(fresh, std::memory_order_relaxed);
    entry.key.store(pc ^ fresh ^ object, std::memory_order_relaxed);
  }
  return true;
}

}  // namespace jtrace::hot
