#include "postproc/reader/frame_scanner.h"
#include "postproc/reader/text_reader.h"
#include "postproc/reader/trace_reader.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

absl::Status NoTrace(std::string_view content, std::string_view file) {
  if (content.empty()) return absl::InvalidArgumentError(StrCat(file, ": empty, not a trace"));
  // A copy of a trace's end, or a trace that was made shorter while it was written.
  if (const auto frame = FrameScanner(content).Next()) {
    return absl::DataLossError(
        StrCat(file, ": the beginning of this trace is missing: its first whole frame is at byte ",
               frame->offset, ", and the definitions for it were before that"));
  }
  return absl::InvalidArgumentError(StrCat(file, ": not a trace (neither binary nor text)"));
}

}  // namespace

absl::Status ReadAnyTrace(std::string_view content, std::string_view file,
                          const ReadOptions& options, TraceModel& model, ImportStats& stats,
                          RecordVisitor& visitor) {
  if (IsBinaryTrace(content)) {
    return ReadBinaryTrace(content, file, options, model, stats, visitor);
  }
  if (IsTextTrace(content)) return ReadTextTrace(content, file, model, stats, visitor);
  return NoTrace(content, file);
}

}  // namespace jtrace::postproc
