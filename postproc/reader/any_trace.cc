#include "postproc/reader/text_reader.h"
#include "postproc/reader/trace_reader.h"
#include "postproc/support/strings.h"
#include "proto/trace_format.h"

namespace jtrace::postproc {

bool IsBinaryTrace(std::string_view content) {
  return content.starts_with(std::string_view(format::kMagic.data(), format::kMagic.size()));
}

absl::Status ReadAnyTrace(std::string_view content, std::string_view file,
                          const ReadOptions& options, TraceModel& model, ImportStats& stats,
                          RecordVisitor& visitor) {
  if (IsBinaryTrace(content)) {
    (void)options;
    return absl::UnimplementedError(StrCat(file, ": binary traces are not read yet"));
  }
  if (IsTextTrace(content)) return ReadTextTrace(content, file, model, stats, visitor);
  return absl::InvalidArgumentError(StrCat(
      file, content.empty() ? ": empty, not a trace" : ": not a trace (neither binary nor text)"));
}

}  // namespace jtrace::postproc
