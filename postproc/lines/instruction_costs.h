// The virtual cost of bytecode instructions (S4.1): a table, not a clock.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace jtrace::postproc {

class InstructionCosts {
 public:
  // jtrace's own table, instruction_costs.txt.
  static const InstructionCosts& Standard();
  // The same with lines of `rules` in place of its own: "NAME CYCLES", or "OPCODE NAME CYCLES"; #
  // starts a comment. An error names the line.
  static absl::StatusOr<InstructionCosts> WithRules(std::string_view rules);

  uint32_t CyclesOf(uint8_t opcode) const { return cycles_[opcode]; }
  // Of the instruction at `bci`; that after a `wide` for the wide one, which costs nothing itself.
  uint32_t CyclesAt(absl::Span<const uint8_t> code, uint32_t bci) const;
  // "invokevirtual"; empty: not an opcode.
  static std::string_view NameOf(uint8_t opcode);

 private:
  absl::Status Apply(std::string_view rules);

  std::array<uint32_t, 256> cycles_ = {};
};

}  // namespace jtrace::postproc
