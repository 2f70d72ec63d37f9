// The shared cache of unwind rows.
#include <atomic>

#include "agent/hot/walk/cfi.h"
#include "agent/hot/walk/object_lookup.h"

namespace jtrace::hot {
namespace {

// A direct-mapped cache without locks. An entry is two words, `key` = place ^ row ^ object; a torn
// pair (two handlers storing at once) fails the comparison like any other miss. Mixing in the
// object's unwind table address makes rows of an unloaded library miss if another one is mapped at
// its place.
//
// The place is a block of code if all of it has one row, which most code of a function has between
// its prologue and its epilogue; else it is a pc. Samples rarely interrupt the same instruction
// again, but often the same block.
constexpr int kCacheBits = 17;
struct Entry {
  std::atomic<uint64_t> key;
  std::atomic<uint64_t> row;
};
alignas(kHugePage) constinit Entry cache[1 << kCacheBits];
static_assert(sizeof cache % kHugePage == 0);

constexpr uintptr_t kBlock = 64;
// Code is below 2^47.
constexpr uint64_t kIsBlock = uint64_t{1} << 63;

uint64_t BlockOf(uintptr_t pc) { return (pc & ~(kBlock - 1)) | kIsBlock; }

bool HoldsForBlockOf(uintptr_t pc, const RowRange& range) {
  const uintptr_t begin = pc & ~(kBlock - 1);
  return range.begin <= begin && range.end >= begin + kBlock;
}

uint64_t Mix(uint64_t value) { return value * 0x9e37'79b9'7f4a'7c15; }

// A row in one word.
struct PackedRow {
  uint64_t cfa : 4;
  uint64_t rbp : 2;
  uint64_t rbx : 2;
  uint64_t outermost : 1;
  uint64_t signal_frame : 1;
  int64_t cfa_offset : 24;
  int64_t rbp_offset : 15;
  int64_t rbx_offset : 15;
};
static_assert(sizeof(PackedRow) == sizeof(uint64_t));

// False: an offset needs more bits.
bool Pack(const CfiRow& row, uint64_t* word) {
  const PackedRow packed = {static_cast<uint64_t>(row.cfa),
                            static_cast<uint64_t>(row.rbp),
                            static_cast<uint64_t>(row.rbx),
                            row.outermost,
                            row.signal_frame,
                            row.cfa_offset,
                            row.rbp_offset,
                            row.rbx_offset};
  *word = __builtin_bit_cast(uint64_t, packed);
  return packed.cfa_offset == row.cfa_offset && packed.rbp_offset == row.rbp_offset &&
         packed.rbx_offset == row.rbx_offset;
}

CfiRow Unpack(uint64_t word) {
  const auto packed = __builtin_bit_cast(PackedRow, word);
  CfiRow row;
  row.cfa = static_cast<CfaRule>(packed.cfa);
  row.rbp = static_cast<RbpRule>(packed.rbp);
  row.rbx = static_cast<RbxRule>(packed.rbx);
  row.outermost = packed.outermost != 0;
  row.signal_frame = packed.signal_frame != 0;
  row.cfa_offset = static_cast<int32_t>(packed.cfa_offset);
  row.rbp_offset = static_cast<int32_t>(packed.rbp_offset);
  row.rbx_offset = static_cast<int32_t>(packed.rbx_offset);
  return row;
}

Entry& EntryOf(uint64_t place) { return cache[Mix(place) >> (64 - kCacheBits)]; }

bool Recall(uint64_t place, uint64_t object, CfiRow* row) {
  const Entry& entry = EntryOf(place);
  const uint64_t packed = entry.row.load(std::memory_order_relaxed);
  if ((entry.key.load(std::memory_order_relaxed) ^ packed ^ object) != place) return false;
  *row = Unpack(packed);
  return true;
}

void Remember(uint64_t place, uint64_t object, const CfiRow& row) {
  uint64_t fresh;
  if (!Pack(row, &fresh)) return;
  Entry& entry = EntryOf(place);
  entry.row.store(fresh, std::memory_order_relaxed);
  entry.key.store(place ^ fresh ^ object, std::memory_order_relaxed);
}

}  // namespace

MemoryRange CfiRowMemory() { return {cache, sizeof cache}; }

bool CfiLookup::Find(uintptr_t pc, CfiRow* row) {
  if (pc < map_begin_ || pc >= map_end_) {
    MappedObject object;
    if (!FindMappedObject(pc, &object)) return false;
    map_begin_ = object.begin;
    map_end_ = object.end;
    eh_frame_hdr_ = reinterpret_cast<const void*>(object.eh_frame_hdr);
  }
  if (eh_frame_hdr_ == nullptr) {
    *row = CfiRow{};
    return true;
  }
  const uint64_t object = Mix(reinterpret_cast<uintptr_t>(eh_frame_hdr_));
  const uint64_t block = BlockOf(pc);
  __builtin_prefetch(&EntryOf(pc));
  if (Recall(block, object, row) || Recall(pc, object, row)) return true;
  RowRange range;
  *row = ReadCfiRow(static_cast<const std::byte*>(eh_frame_hdr_), pc, &range);
  Remember(HoldsForBlockOf(pc, range) ? block : pc, object, *row);
  return true;
}

}  // namespace jtrace::hot
