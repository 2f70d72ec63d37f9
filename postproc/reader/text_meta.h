// What a text trace says about itself: in its first line, and in comment lines
// "#@<TAB>KIND<TAB>…" (text_format.h).
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "postproc/model/trace_model.h"

namespace jtrace::postproc {

// Reads the first line and sets the unit; `file` names the input in messages. Fails if it is not
// a text trace's header, its version is newer, or its unit differs from that of an earlier trace.
absl::Status ReadTextHeader(std::string_view line, std::string_view file, TraceModel& model);

// `fields`: the line's, without "#@", unescaped. Unknown lines are ignored.
void ReadTextMeta(absl::Span<const std::string> fields, TraceInfo& trace, TraceModel& model);

}  // namespace jtrace::postproc
