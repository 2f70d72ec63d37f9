// The interpreter of call frame instructions (DWARF 5 §6.4), reduced to the registers that x86-64
// unwinding needs: the CFA, the return address, rbp and rbx.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/samples/walk/cfi.h"
#include "common/dwarf_cursor.h"

namespace jtrace::samples {

// A common information entry: it applies to the entries (FDE) of several functions.
struct Cie {
  uint64_t code_alignment = 1;
  int64_t data_alignment = 1;
  uint8_t pointer_encoding = 0;
  bool has_augmentation_data = false;
  bool signal_frame = false;
  const std::byte* instructions = nullptr;
  const std::byte* end = nullptr;
};

// Runs call frame instructions until the row for `target` is complete.
class RowInterpreter {
 public:
  RowInterpreter(const Cie& cie, uintptr_t location, uintptr_t target)
      : cie_(cie), location_(location), target_(target) {}

  CfiRow& row() { return row_; }
  // Returns the row's range: to the begin of the next one, or to `end` if this is the last.
  RowRange RangeBefore(uintptr_t end) const { return {location_, done_ ? next_location_ : end}; }
  // Keeps the row as that of the CIE's instructions, to which DW_CFA_restore returns.
  void SaveInitialRow() { initial_ = row_; }

  // Returns false at an instruction that this reader does not know.
  bool Run(DwarfCursor in);

 private:
  static constexpr int kMaxRememberedRows = 8;

  bool Execute(uint8_t high, uint8_t low, DwarfCursor& in);
  bool ExecuteExtended(uint8_t code, DwarfCursor& in);
  bool ExecuteCfaRule(uint8_t code, DwarfCursor& in);
  bool ExecuteRegisterRule(uint8_t code, DwarfCursor& in);
  void Advance(uint64_t units);
  void AdvanceTo(uintptr_t location);
  void SetUnknown(uint64_t reg);
  void SetAtCfa(uint64_t reg, int64_t offset);
  void Restore(uint64_t reg);
  void SetCfaExpression(DwarfCursor in);
  bool SetExpression(uint64_t reg, DwarfCursor in);

  const Cie& cie_;
  uintptr_t location_;  // where the row begins
  const uintptr_t target_;
  bool done_ = false;
  uintptr_t next_location_ = 0;  // if done_
  CfiRow row_;
  CfiRow initial_;
  CfiRow saved_[kMaxRememberedRows];
  int remembered_ = 0;
};

}  // namespace jtrace::samples
