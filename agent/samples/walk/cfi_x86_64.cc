// Finds the call frame information of a pc (DWARF 5 §6.4, LSB §10.6), and reads its entries.
#include <atomic>
#include <cstring>
#include <string_view>

#include "agent/samples/walk/cfi.h"
#include "agent/samples/walk/cfi_interpreter_x86_64.h"
#include "agent/samples/walk/object_lookup.h"
#include "common/dwarf_cursor.h"

namespace jtrace::samples {
namespace {

bool ParseAugmentation(std::string_view letters, DwarfCursor data, Cie* cie) {
  for (const char letter : letters) {
    switch (letter) {
      case 'R':
        cie->pointer_encoding = data.Byte();
        break;
      case 'P': {
        const uint8_t encoding = data.Byte();
        data.Value(encoding);
        break;
      }
      case 'L':
        data.Byte();
        break;
      case 'S':
        cie->signal_frame = true;
        break;
      case 'B':
        break;
      default:
        return false;
    }
  }
  return data.ok();
}

bool ParseCie(const std::byte* at, Cie* cie) {
  uint32_t length;
  std::memcpy(&length, at, sizeof length);
  if (length == 0 || length == 0xffff'ffff) return false;
  DwarfCursor in(at + 4, at + 4 + length);
  in.Fixed<uint32_t>();  // id
  const uint8_t version = in.Byte();
  std::string_view augmentation = in.Text();
  cie->code_alignment = in.Uleb();
  cie->data_alignment = in.Sleb();
  if (version == 1) {
    in.Byte();
  } else {
    in.Uleb();
  }
  if (augmentation.starts_with('z')) {
    cie->has_augmentation_data = true;
    augmentation.remove_prefix(1);
    if (!ParseAugmentation(augmentation, in.Block(in.Uleb()), cie)) return false;
  } else if (!augmentation.empty()) {
    return false;
  }
  cie->instructions = in.position();
  cie->end = at + 4 + length;
  return in.ok();
}

// The target for a CIE's instructions: all of them apply.
constexpr uintptr_t kEverywhere = ~uintptr_t{0};

CfiRow ReadFde(const std::byte* fde, uintptr_t pc, RowRange* row_range) {
  CfiRow none;
  uint32_t length, cie_delta;
  std::memcpy(&length, fde, sizeof length);
  std::memcpy(&cie_delta, fde + 4, sizeof cie_delta);
  Cie cie;
  if (length == 0 || length == 0xffff'ffff) return none;
  CfiRow unsupported;
  unsupported.cfa = CfaRule::kUnsupported;
  if (!ParseCie(fde + 4 - cie_delta, &cie)) return unsupported;
  DwarfCursor in(fde + 8, fde + 4 + length);
  const uintptr_t begin = in.Pointer(cie.pointer_encoding);
  const uintptr_t range = in.Value(cie.pointer_encoding);
  if (!in.ok() || pc < begin || pc - begin >= range) return none;
  if (cie.has_augmentation_data) in.Skip(in.Uleb());
  if (!in.ok()) return unsupported;
  if (cie.signal_frame) {
    // Its rules only say where a ucontext keeps each register.
    *row_range = {begin, begin + range};
    CfiRow row;
    row.signal_frame = true;
    return row;
  }

  RowInterpreter initial(cie, 0, kEverywhere);
  if (!initial.Run(DwarfCursor(cie.instructions, cie.end))) return unsupported;
  RowInterpreter interpreter(cie, begin, pc);
  interpreter.row() = initial.row();
  interpreter.SaveInitialRow();
  if (!interpreter.Run(DwarfCursor(in.position(), fde + 4 + length))) return unsupported;
  *row_range = interpreter.RangeBefore(begin + range);
  CfiRow row = interpreter.row();
  if (row.cfa == CfaRule::kNoRow) row.cfa = CfaRule::kUnsupported;
  return row;
}

// A direct-mapped cache without locks. An entry is two words, `key` = place ^ row ^ object; a torn
// pair (two handlers storing at once) misses. `object` is a hash of the unwind tables' address, so
// that rows of an unloaded library miss if another one is mapped in its place.
//
// `place` is a block of code if all of it has one row, as most code between a prologue and an
// epilogue; else it is a pc. Samples seldom hit an instruction again, but often its block.
constexpr int kCacheBits = 17;
struct Entry {
  std::atomic<uint64_t> key;
  std::atomic<uint64_t> row;
};
alignas(kHugePage) constinit Entry cache[1 << kCacheBits];
static_assert(sizeof cache % kHugePage == 0);

constexpr uintptr_t kBlock = 64;
// Distinguishes blocks from pcs, which are below 2^47.
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

// Returns false if an offset needs more bits.
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

CfiRow ReadCfiRow(const std::byte* eh_frame_hdr, uintptr_t pc, RowRange* range) {
  *range = {};
  constexpr uint8_t kVersion = 1;
  constexpr uint8_t kRelativeTable = 0x3b;  // DW_EH_PE_datarel | DW_EH_PE_sdata4
  struct Entry {
    int32_t begin;  // both relative to the header
    int32_t fde;
  };
  const auto byte = [&](int i) { return static_cast<uint8_t>(eh_frame_hdr[i]); };
  if (byte(0) != kVersion || byte(3) != kRelativeTable) return CfiRow{};
  DwarfCursor in(eh_frame_hdr + 4, eh_frame_hdr + 4 + 32);
  in.Pointer(byte(1));  // address of .eh_frame
  const uint64_t count = in.Pointer(byte(2));
  if (!in.ok()) return CfiRow{};
  const auto* table = reinterpret_cast<const Entry*>(in.position());
  const int64_t target = static_cast<int64_t>(pc - reinterpret_cast<uintptr_t>(eh_frame_hdr));
  uint64_t low = 0, high = count;
  while (low < high) {
    const uint64_t middle = (low + high) / 2;
    if (table[middle].begin <= target) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == 0 ? CfiRow{} : ReadFde(eh_frame_hdr + table[low - 1].fde, pc, range);
}

MemoryRange CfiRowMemory() { return {cache, sizeof cache}; }

bool CfiLookup::Find(uintptr_t pc, CfiRow* row) {
  if (pc < map_begin_ || pc >= map_end_) {
    MappedDso object;
    if (!FindMappedDso(pc, &object)) return false;
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

}  // namespace jtrace::samples
