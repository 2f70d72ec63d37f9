// The comments of an annotated source: of each method its calls and callers, of a line its blocks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

class SourceNotes {
 public:
  // `input` outlives it.
  explicit SourceNotes(const ReportInput& input);
  SourceNotes(const SourceNotes&) = delete;
  SourceNotes& operator=(const SourceNotes&) = delete;

  // "a.B.run(int): 12 calls, 340 instructions, 380 cycles, self 3 ms; called by a.A.main(String[])
  // 12". Callers are those that were counted: the most frequent ones. The measure of the report
  // (self) is left out where it is calls.
  std::string OfMethod(const MethodLines& method) const;
  // "calls a.C.read() 24 (5 ms), a.C.close() 12 (1 ms)": the callees with the most of the report's
  // measure, by name; "" without any.
  std::string CalleesOf(const MethodLines& method) const;
  // "blocks: 12, 0, 5"
  static std::string OfBlocks(const LineCounts& line);

 private:
  std::string CallersOf(RoutineId routine) const;
  std::string SelfOf(RoutineId routine) const;
  bool ShowsMeasure() const;

  const ReportInput& input_;
  const std::vector<Stanza> stanzas_;
  absl::flat_hash_map<RoutineId, const Stanza*> of_routine_;
};

}  // namespace jtrace::postproc
