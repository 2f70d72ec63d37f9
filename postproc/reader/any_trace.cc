#include "postproc/reader/text_reader.h"
#include "postproc/reader/trace_reader.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {

absl::Status ReadAnyTrace(std::string_view content, std::string_view file,
                          const ReadOptions& options, TraceModel& model, ImportStats& stats,
                          RecordVisitor& visitor) {
  if (IsBinaryTrace(content)) {
    return ReadBinaryTrace(content, file, options, model, stats, visitor);
  }
  if (IsTextTrace(content)) return ReadTextTrace(content, file, model, stats, visitor);
  return absl::InvalidArgumentError(StrCat(
      file, content.empty() ? ": empty, not a trace" : ": not a trace (neither binary nor text)"));
}

}  // namespace jtrace::postproc
