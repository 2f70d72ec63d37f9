// Counters of blocks (blocks=on) as traces have them, and the classes they belong to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "postproc/lines/flow_solver.h"
#include "postproc/lines/instruction_costs.h"
#include "postproc/lines/line_profile.h"
#include "postproc/model/record_visitor.h"

namespace jtrace::postproc {

class BlockLog : public RecordVisitor {
 public:
  explicit BlockLog(TraceModel& model) : model_(model) {}

  void OnCalls(ThreadId, absl::Span<const CallRecord>) override {}
  void OnReducedCalls(ThreadId, const ReducedCalls&,
                      absl::FunctionRef<void(RecordVisitor&)>) override {}
  void OnNotice(At at, std::string_view op, absl::Span<const std::string> args) override;

  // Of all traces together: counts of lines of the same class and method are added.
  LineProfile Lines(const InstructionCosts& costs) const;

 private:
  struct ClassCode {
    std::string name;
    std::vector<uint8_t> bytes;
  };
  struct Method {
    size_t class_code = 0;  // index into classes_
    uint32_t index = 0;     // in the class file
    RoutineId routine;
    std::optional<int64_t> calls;
    std::vector<PlacedCount> counters;
    std::vector<OpenActivations> open;
  };

  void AddClass(absl::Span<const std::string> args);
  void AddMethod(absl::Span<const std::string> args);

  TraceModel& model_;
  std::vector<ClassCode> classes_;
  absl::flat_hash_map<int64_t, size_t> by_number_;  // of the trace that is being read
  std::vector<Method> methods_;
};

}  // namespace jtrace::postproc
