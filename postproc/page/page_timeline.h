// The page's pictures over time.
#pragma once

#include "common/json_writer.h"
#include "postproc/calltree/timeline.h"

namespace jtrace::postproc {

// The member "timeline".
void WritePageTimeline(const Timeline& timeline, JsonWriter& json);

}  // namespace jtrace::postproc
