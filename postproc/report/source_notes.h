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

  // "a.B.run(int): 12 calls, 340 instructions, 380 cycles; called by a.A.main(String[]) 12".
  // Callers are those that were counted: the most frequent ones.
  std::string OfMethod(const MethodLines& method) const;
  // "blocks: 12, 0, 5"
  static std::string OfBlocks(const LineCounts& line);

 private:
  std::string CallersOf(RoutineId routine) const;

  const ReportInput& input_;
  absl::flat_hash_map<RoutineId, const Stanza*> stanzas_;
};

}  // namespace jtrace::postproc
