// The bytecode of counted methods, for reports that show one after the other.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "postproc/lines/class_source.h"
#include "postproc/lines/line_builder.h"
#include "postproc/lines/line_sources.h"

namespace jtrace::postproc {

class MethodCodes {
 public:
  // It outlives this.
  explicit MethodCodes(const LineSources& sources);

  // Each version of the method that was counted; none: its code is not in the traces.
  std::vector<MethodCode> Of(const MethodLines& method);

 private:
  const LineSources& sources_;
  // Indices into the log's methods.
  absl::flat_hash_map<RoutineId, std::vector<size_t>> by_routine_;
  ParsedClass parsed_;
};

}  // namespace jtrace::postproc
