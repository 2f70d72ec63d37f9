// Compiled code in a text trace: "jit-load", "jit-unload" and "jit-inlining" with their fields.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "postproc/model/record_visitor.h"
#include "postproc/model/trace_model.h"

namespace jtrace::postproc::text {

std::string_view CodeOp(CodeRecord::Op op);
std::optional<CodeRecord::Op> ParseCodeOp(std::string_view op);

// A CodeRecord with the objects of its spans.
class CodeFields {
 public:
  // `args`: the fields after the op, unescaped: ROUTINE, "address=0x…", "size=…", "method=…"; of a
  // load "level=…", "native", "osr=…", "bytecodes=…", "modifiers=…" as far as they are not 0; then
  // for each inlining row "@PC" and "BCI ROUTINE" or "BCI/BYTECODES ROUTINE" for each frame,
  // innermost first. Other fields are left out.
  CodeFields(CodeRecord::Op op, absl::Span<const std::string> args, TraceModel& model);
  CodeFields(const CodeFields&) = delete;
  CodeFields& operator=(const CodeFields&) = delete;

  const CodeRecord& record() const { return record_; }

 private:
  void ReadLoad(std::string_view field);
  void ReadRows(absl::Span<const std::string> args, TraceModel& model);

  CodeRecord record_;
  std::vector<CodeRecord::Frame> frames_;
  std::vector<CodeRecord::Row> rows_;
};

}  // namespace jtrace::postproc::text
