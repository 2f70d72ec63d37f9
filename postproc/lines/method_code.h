// The instructions of a method with their counts, as javap names them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace jtrace::postproc {

struct InstructionCounts {
  uint32_t bci = 0;
  int32_t line = 0;  // where a listing of the method's source shows it; 0: nowhere
  std::string mnemonic;
  std::string operands;
  uint64_t count = 0;   // how often it began
  uint64_t cycles = 0;  // by the table of costs
  // Of a conditional jump or a switch: its outcomes, and how many of them occurred.
  uint32_t branches = 0;
  uint32_t branches_taken = 0;
  int64_t ticks = 0;  // samples that interrupted it
};

// One version of a method: classes are redefined, and several loaders may load different ones.
struct MethodCode {
  std::vector<InstructionCounts> instructions;  // by bci
};

}  // namespace jtrace::postproc
