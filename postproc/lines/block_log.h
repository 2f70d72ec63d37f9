// Counters of blocks (blocks=on) as traces have them, and the classes they belong to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "postproc/lines/inlined_lines.h"
#include "postproc/lines/instruction_costs.h"
#include "postproc/lines/line_builder.h"
#include "postproc/lines/line_profile.h"
#include "postproc/lines/line_ticks.h"
#include "postproc/model/record_visitor.h"

namespace jtrace::postproc {

class BlockLog : public RecordVisitor {
 public:
  explicit BlockLog(TraceModel& model) : model_(model) {}

  void OnCalls(ThreadId, absl::Span<const CallRecord>) override {}
  void OnReducedCalls(ThreadId, const ReducedCalls&,
                      absl::FunctionRef<void(RecordVisitor&)>) override {}
  void OnNotice(At at, std::string_view op, absl::Span<const std::string> args) override;

  // The code that a trace numbers so (NodeBlocks::code); null: none.
  struct Code {
    size_t class_code = 0;  // for ClassBytes
    uint32_t method = 0;    // index in the class file
    std::vector<classfile::CounterPosition> places;
  };
  const Code* CodeOf(uint32_t trace, uint32_t number) const;
  // Methods whose blocks were counted by call path, and methods with others.
  bool has_paths() const { return !by_path_.empty(); }
  bool has_methods() const { return methods_.size() > by_path_.size(); }
  absl::Span<const uint8_t> ClassBytes(size_t class_code) const {
    return classes_[class_code].bytes;
  }

  // Of all traces together: counts of lines of the same class and method are added. `ticks` (may be
  // null) are samples by place. Lines that compilers inlined go to `inlined`, for the caller to
  // place; methods are not sorted (SortMethods).
  LineProfile Lines(const InstructionCosts& costs, const LineTicks* ticks,
                    InlinedLines& inlined) const;
  // The same with inlined lines in place, and sorted; without samples.
  LineProfile Lines(const InstructionCosts& costs) const;

  // A class file, and what was counted in one of its methods.
  struct ClassCode {
    std::string name;
    std::vector<uint8_t> bytes;
  };
  struct Method {
    size_t class_code = 0;  // index into classes()
    uint32_t index = 0;     // in the class file
    RoutineId routine;
    MethodCounts counts;
  };
  const std::vector<ClassCode>& classes() const { return classes_; }
  const std::vector<Method>& methods() const { return methods_; }

 private:
  void AddClass(absl::Span<const std::string> args);
  void AddMethod(absl::Span<const std::string> args);
  // "run(int)"; "" if only the class file has it.
  std::string NameOf(const Method& method) const;

  TraceModel& model_;
  std::vector<ClassCode> classes_;
  absl::flat_hash_map<int64_t, size_t> by_number_;  // of the trace that is being read
  std::vector<Method> methods_;
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, Code> by_path_;  // by trace and number
};

// In the order that LineProfile has them in.
void SortMethods(LineProfile& profile);

}  // namespace jtrace::postproc
