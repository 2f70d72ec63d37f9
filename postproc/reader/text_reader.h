// Reads a text trace (*.jtxt) into the record stream.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "postproc/model/import_stats.h"
#include "postproc/model/record_visitor.h"
#include "postproc/model/trace_model.h"

namespace jtrace::postproc {

// True if `content` begins like a text trace.
bool IsTextTrace(std::string_view content);

// Streams the lines of `content` to `visitor` in their order; adds names to `model`, and unusable
// lines with their number to `stats`. `file` names the input in messages. Fails only if the first
// line is not a text trace's header, its version is newer, or its unit differs from that of an
// earlier trace.
absl::Status ReadTextTrace(std::string_view content, std::string_view file, TraceModel& model,
                           ImportStats& stats, RecordVisitor& visitor);

}  // namespace jtrace::postproc
