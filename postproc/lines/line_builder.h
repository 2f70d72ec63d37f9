// Makes the counts of a method's lines of its code and its counters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "common/classfile/class_file.h"
#include "common/classfile/code_attribute.h"
#include "postproc/lines/flow_solver.h"
#include "postproc/lines/instruction_costs.h"
#include "postproc/lines/line_profile.h"

namespace jtrace::postproc {

// The instructions of a method with their counts, as javap names them.
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

// What was counted in one version of a method.
struct MethodCounts {
  std::optional<int64_t> calls;  // none: a counter has them
  std::vector<PlacedCount> counters;
  std::vector<OpenActivations> open;
};

class LineBuilder {
 public:
  // Both outlive it.
  LineBuilder(const classfile::ClassFile& file, size_t method, const InstructionCosts& costs);

  // The line number of the instruction at `bci`; 0: none.
  int32_t LineAt(uint32_t bci) const;
  // "name(descriptor)": for a method whose display name is not known.
  std::string name() const;
  // Without names of routine, class and method. None: the counters do not belong to this code.
  std::optional<MethodLines> Build(const MethodCounts& counts) const;
  // The instructions with their counts. None: as above.
  std::optional<MethodCode> Code(const MethodCounts& counts) const;
  // Of a method that cannot have run. None: its flow is not known.
  std::optional<MethodLines> BuildNeverRun() const;

 private:
  void ReadLineNumbers(classfile::Bytes body);
  std::optional<FlowCounts> Solve(const MethodCounts& counts) const;
  MethodLines LinesOf(const FlowCounts& flow) const;
  void AddBlock(const FlowCounts& flow, size_t block, MethodLines& lines) const;
  void AddBranches(const FlowCounts& flow, MethodLines& lines) const;

  const classfile::ClassFile& file_;
  const classfile::MethodInfo& method_;
  const InstructionCosts& costs_;
  classfile::CodeAttribute code_;
  bool is_valid_ = false;
  std::vector<std::pair<uint32_t, int32_t>> numbers_;  // from a bci on, ascending
};

}  // namespace jtrace::postproc
