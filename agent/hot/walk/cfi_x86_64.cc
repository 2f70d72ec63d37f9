// The interpreter of call frame instructions (DWARF 5 §6.4), reduced to the registers that
// x86-64 unwinding needs: the CFA, the return address, rbp and rbx.
#include "agent/hot/walk/cfi.h"
#include "common/dwarf_cursor.h"

namespace jtrace::hot {
namespace {

// DWARF register numbers (System V ABI, AMD64, figure 3.36).
constexpr uint64_t kRbx = 3;
constexpr uint64_t kRbp = 6;
constexpr uint64_t kRsp = 7;
constexpr uint64_t kR10 = 10;
constexpr uint64_t kReturnAddress = 16;

constexpr int kMaxRememberedRows = 8;

// DWARF expression operations that the compilers and linkers emit here.
constexpr uint8_t kOpDeref = 0x06;
constexpr uint8_t kOpLit0 = 0x30;
constexpr uint8_t kOpBreg6 = 0x76;
constexpr uint8_t kOpBreg7 = 0x77;

struct Cie {
  uint64_t code_alignment = 1;
  int64_t data_alignment = 1;
  uint8_t pointer_encoding = 0;
  bool has_augmentation_data = false;
  bool signal_frame = false;
  const std::byte* instructions = nullptr;
  const std::byte* end = nullptr;
};

CfaRule CfaOfRegister(uint64_t reg) {
  switch (reg) {
    case kRsp:
      return CfaRule::kRsp;
    case kRbp:
      return CfaRule::kRbp;
    case kRbx:
      return CfaRule::kRbx;
    case kR10:
      return CfaRule::kR10;
    default:
      return CfaRule::kUnsupported;
  }
}

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

// Runs call frame instructions until the row for `target` is complete.
class RowInterpreter {
 public:
  RowInterpreter(const Cie& cie, uintptr_t location, uintptr_t target)
      : cie_(cie), location_(location), target_(target) {}

  CfiRow& row() { return row_; }
  // DW_CFA_restore returns to this: the row after the CIE's instructions.
  void MarkInitial() { initial_ = row_; }

  // False: an instruction that this reader does not know.
  bool Run(DwarfCursor in) {
    while (!in.AtEnd() && !done_) {
      const uint8_t code = in.Byte();
      if (!Execute(code >> 6, code & 0x3f, in)) return false;
    }
    return in.ok();
  }

 private:
  bool Execute(uint8_t high, uint8_t low, DwarfCursor& in) {
    switch (high) {
      case 1:  // DW_CFA_advance_loc
        Advance(low);
        return true;
      case 2:  // DW_CFA_offset
        SetAtCfa(low, static_cast<int64_t>(in.Uleb()) * cie_.data_alignment);
        return true;
      case 3:  // DW_CFA_restore
        Restore(low);
        return true;
      default:
        return ExecuteExtended(low, in);
    }
  }

  bool ExecuteExtended(uint8_t code, DwarfCursor& in) {
    switch (code) {
      case 0x00:  // nop
        return true;
      case 0x01:  // set_loc
        AdvanceTo(in.Pointer(cie_.pointer_encoding));
        return true;
      case 0x02:  // advance_loc1
        Advance(in.Byte());
        return true;
      case 0x03:
        Advance(in.Fixed<uint16_t>());
        return true;
      case 0x04:
        Advance(in.Fixed<uint32_t>());
        return true;
      case 0x0a:  // remember_state
        if (remembered_ == kMaxRememberedRows) return false;
        saved_[remembered_++] = row_;
        return true;
      case 0x0b:  // restore_state
        if (remembered_ == 0) return false;
        row_ = saved_[--remembered_];
        return true;
      case 0x2d:  // GNU_window_save: not on x86
        return false;
      case 0x2e:  // GNU_args_size
        in.Uleb();
        return true;
      default:
        return code >= 0x0c && code <= 0x13 && code != 0x10 && code != 0x11
                   ? ExecuteCfaRule(code, in)
                   : ExecuteRegisterRule(code, in);
    }
  }

  bool ExecuteCfaRule(uint8_t code, DwarfCursor& in) {
    switch (code) {
      case 0x0c: {  // def_cfa
        row_.cfa = CfaOfRegister(in.Uleb());
        row_.cfa_offset = static_cast<int32_t>(in.Uleb());
        return true;
      }
      case 0x0d:  // def_cfa_register
        row_.cfa = CfaOfRegister(in.Uleb());
        return true;
      case 0x0e:  // def_cfa_offset
        row_.cfa_offset = static_cast<int32_t>(in.Uleb());
        return true;
      case 0x0f:  // def_cfa_expression
        SetCfaExpression(in.Block(in.Uleb()));
        return true;
      case 0x12: {  // def_cfa_sf
        row_.cfa = CfaOfRegister(in.Uleb());
        row_.cfa_offset = static_cast<int32_t>(in.Sleb() * cie_.data_alignment);
        return true;
      }
      default:  // 0x13 def_cfa_offset_sf
        row_.cfa_offset = static_cast<int32_t>(in.Sleb() * cie_.data_alignment);
        return true;
    }
  }

  bool ExecuteRegisterRule(uint8_t code, DwarfCursor& in) {
    const uint64_t reg = in.Uleb();
    switch (code) {
      case 0x05:  // offset_extended
        SetAtCfa(reg, static_cast<int64_t>(in.Uleb()) * cie_.data_alignment);
        return true;
      case 0x11:  // offset_extended_sf
        SetAtCfa(reg, in.Sleb() * cie_.data_alignment);
        return true;
      case 0x06:  // restore_extended
        Restore(reg);
        return true;
      case 0x07:  // undefined
        Lose(reg);
        if (reg == kReturnAddress) row_.outermost = true;
        return true;
      case 0x08:  // same_value
        if (reg == kRbp) row_.rbp = RbpRule::kSame;
        if (reg == kRbx) row_.rbx = RbxRule::kSame;
        return true;
      case 0x09:  // register
        in.Uleb();
        Lose(reg);
        return reg != kReturnAddress;
      case 0x10:  // expression
        return SetExpression(reg, in.Block(in.Uleb()));
      case 0x14:  // val_offset
      case 0x15:  // val_offset_sf
        in.Uleb();
        Lose(reg);
        return reg != kRbp && reg != kReturnAddress;
      case 0x16:  // val_expression
        in.Skip(in.Uleb());
        Lose(reg);
        return reg != kRbp && reg != kReturnAddress;
      default:
        return false;
    }
  }

  void Advance(uint64_t units) { AdvanceTo(location_ + units * cie_.code_alignment); }
  void AdvanceTo(uintptr_t location) {
    if (location > target_) {
      done_ = true;
    } else {
      location_ = location;
    }
  }

  void Lose(uint64_t reg) {
    if (reg == kRbp) row_.rbp = RbpRule::kLost;
    if (reg == kRbx) row_.rbx = RbxRule::kLost;
  }

  void SetAtCfa(uint64_t reg, int64_t offset) {
    if (reg == kRbp) {
      row_.rbp = RbpRule::kAtCfa;
      row_.rbp_offset = static_cast<int32_t>(offset);
    } else if (reg == kRbx) {
      row_.rbx = RbxRule::kAtCfa;
      row_.rbx_offset = static_cast<int32_t>(offset);
    } else if (reg == kReturnAddress) {
      row_.outermost = false;
      if (offset != -8) row_.cfa = CfaRule::kUnsupported;
    }
  }

  void Restore(uint64_t reg) {
    if (reg == kRbp) {
      row_.rbp = initial_.rbp;
      row_.rbp_offset = initial_.rbp_offset;
    } else if (reg == kRbx) {
      row_.rbx = initial_.rbx;
      row_.rbx_offset = initial_.rbx_offset;
    } else if (reg == kReturnAddress) {
      row_.outermost = initial_.outermost;
    }
  }

  // `breg6 n; deref` (realigned stacks) and the linker's expression for PLT entries, the only one
  // that starts from rsp: rsp + 8 + ((pc & 15) >= n) * 8, n being where the entry's push ends.
  void SetCfaExpression(DwarfCursor in) {
    const uint8_t first = in.Byte();
    const int64_t offset = in.Sleb();
    row_.cfa = CfaRule::kUnsupported;
    if (first == kOpBreg6 && in.Byte() == kOpDeref && in.AtEnd()) {
      row_.cfa = CfaRule::kAtRbp;
      row_.cfa_offset = static_cast<int32_t>(offset);
    } else if (first == kOpBreg7 && offset == 8) {
      constexpr uint8_t kPcAnd15[] = {0x80, 0x00, 0x3f, 0x1a};  // breg16 0; lit15; and
      for (const uint8_t expected : kPcAnd15) {
        if (in.Byte() != expected) return;
      }
      const uint8_t literal = in.Byte();  // lit0 + n; ge; lit3; shl; plus
      if (literal < kOpLit0 || literal > kOpLit0 + 15) return;
      row_.cfa = CfaRule::kPlt;
      row_.cfa_offset = literal - kOpLit0;
    }
  }

  bool SetExpression(uint64_t reg, DwarfCursor in) {
    if (reg == kReturnAddress) return false;
    if (reg == kRbx) row_.rbx = RbxRule::kLost;
    if (reg != kRbp) return true;
    const uint8_t first = in.Byte();
    const int64_t offset = in.Sleb();
    if (first == kOpBreg6 && in.AtEnd()) {
      row_.rbp = RbpRule::kAtRbp;
      row_.rbp_offset = static_cast<int32_t>(offset);
    } else {
      row_.rbp = RbpRule::kLost;
    }
    return true;
  }

  const Cie& cie_;
  uintptr_t location_;
  const uintptr_t target_;
  bool done_ = false;
  CfiRow row_;
  CfiRow initial_;
  CfiRow saved_[kMaxRememberedRows];
  int remembered_ = 0;
};

// The CIE's instructions apply from the start: no location ends them.
constexpr uintptr_t kEverywhere = ~uintptr_t{0};

CfiRow ReadFde(const std::byte* fde, uintptr_t pc) {
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

  RowInterpreter initial(cie, 0, kEverywhere);
  if (!initial.Run(DwarfCursor(cie.instructions, cie.end))) return unsupported;
  RowInterpreter interpreter(cie, begin, pc);
  interpreter.row() = initial.row();
  interpreter.MarkInitial();
  if (!interpreter.Run(DwarfCursor(in.position(), fde + 4 + length))) return unsupported;
  CfiRow row = interpreter.row();
  if (row.cfa == CfaRule::kNoRow) row.cfa = CfaRule::kUnsupported;
  row.signal_frame = cie.signal_frame;
  return row;
}

}  // namespace

CfiRow ReadCfiRow(const std::byte* eh_frame_hdr, uintptr_t pc) {
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
  return low == 0 ? CfiRow{} : ReadFde(eh_frame_hdr + table[low - 1].fde, pc);
}

}  // namespace jtrace::hot
