#include "agent/samples/walk/cfi_interpreter_x86_64.h"

namespace jtrace::samples {
namespace {

// DWARF register numbers (System V ABI, AMD64, figure 3.36).
constexpr uint64_t kRbx = 3;
constexpr uint64_t kRbp = 6;
constexpr uint64_t kRsp = 7;
constexpr uint64_t kR10 = 10;
constexpr uint64_t kReturnAddress = 16;

// DWARF expression operations that the compilers and linkers emit here.
constexpr uint8_t kOpDeref = 0x06;
constexpr uint8_t kOpLit0 = 0x30;
constexpr uint8_t kOpBreg6 = 0x76;
constexpr uint8_t kOpBreg7 = 0x77;

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

}  // namespace

bool RowInterpreter::Run(DwarfCursor in) {
  while (!in.AtEnd() && !done_) {
    const uint8_t code = in.Byte();
    if (!Execute(code >> 6, code & 0x3f, in)) return false;
  }
  return in.ok();
}

bool RowInterpreter::Execute(uint8_t high, uint8_t low, DwarfCursor& in) {
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

bool RowInterpreter::ExecuteExtended(uint8_t code, DwarfCursor& in) {
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

bool RowInterpreter::ExecuteCfaRule(uint8_t code, DwarfCursor& in) {
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

bool RowInterpreter::ExecuteRegisterRule(uint8_t code, DwarfCursor& in) {
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
      SetUnknown(reg);
      if (reg == kReturnAddress) row_.outermost = true;
      return true;
    case 0x08:  // same_value
      if (reg == kRbp) row_.rbp = RbpRule::kSame;
      if (reg == kRbx) row_.rbx = RbxRule::kSame;
      return true;
    case 0x09:  // register
      in.Uleb();
      SetUnknown(reg);
      return reg != kReturnAddress;
    case 0x10:  // expression
      return SetExpression(reg, in.Block(in.Uleb()));
    case 0x14:  // val_offset
    case 0x15:  // val_offset_sf
      in.Uleb();
      SetUnknown(reg);
      return reg != kRbp && reg != kReturnAddress;
    case 0x16:  // val_expression
      in.Skip(in.Uleb());
      SetUnknown(reg);
      return reg != kRbp && reg != kReturnAddress;
    default:
      return false;
  }
}

void RowInterpreter::Advance(uint64_t units) { AdvanceTo(location_ + units * cie_.code_alignment); }

void RowInterpreter::AdvanceTo(uintptr_t location) {
  if (location > target_) {
    done_ = true;
    next_location_ = location;
  } else {
    location_ = location;
  }
}

void RowInterpreter::SetUnknown(uint64_t reg) {
  if (reg == kRbp) row_.rbp = RbpRule::kLost;
  if (reg == kRbx) row_.rbx = RbxRule::kLost;
}

void RowInterpreter::SetAtCfa(uint64_t reg, int64_t offset) {
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

void RowInterpreter::Restore(uint64_t reg) {
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
void RowInterpreter::SetCfaExpression(DwarfCursor in) {
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

bool RowInterpreter::SetExpression(uint64_t reg, DwarfCursor in) {
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

}  // namespace jtrace::samples
