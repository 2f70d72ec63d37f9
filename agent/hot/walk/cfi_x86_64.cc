// Finds the call frame information of a pc (DWARF 5 §6.4, LSB §10.6), and reads its entries.
#include <cstring>
#include <string_view>

#include "agent/hot/walk/cfi.h"
#include "agent/hot/walk/cfi_interpreter_x86_64.h"
#include "common/dwarf_cursor.h"

namespace jtrace::hot {
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

// The CIE's instructions apply from the start: no location ends them.
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
  interpreter.MarkInitial();
  if (!interpreter.Run(DwarfCursor(in.position(), fde + 4 + length))) return unsupported;
  *row_range = interpreter.RangeBefore(begin + range);
  CfiRow row = interpreter.row();
  if (row.cfa == CfaRule::kNoRow) row.cfa = CfaRule::kUnsupported;
  return row;
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

}  // namespace jtrace::hot
