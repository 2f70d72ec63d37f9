// What a text trace says about itself, in comment lines "#@<TAB>KIND<TAB>…" (text_format.h).
#pragma once

#include <string>

#include "absl/types/span.h"
#include "postproc/model/trace_model.h"

namespace jtrace::postproc {

// `fields`: the line's, without "#@", unescaped. Unknown lines are ignored.
void ReadTextMeta(absl::Span<const std::string> fields, TraceInfo& trace, TraceModel& model);

}  // namespace jtrace::postproc
