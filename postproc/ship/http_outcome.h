// What an answer of a server means for the trace.
#pragma once

#include <string>
#include <string_view>

#include "postproc/ship/http_post.h"
#include "postproc/ship/target.h"

namespace jtrace::ship {

// Refused are only traces that the server has understood and will not take: 400, 413, 415, 422. All
// other errors may be mended: wrong passwords, wrong paths, servers that have too much to do.
Delivery OutcomeOf(const HttpAnswer& answer);

// A successful answer to an OTLP request may say that profiles were rejected
// (ExportProfilesServiceResponse). One that cannot be read, or not to its end, says nothing: later.
Delivery OutcomeOfOtlp(std::string_view answer);

}  // namespace jtrace::ship
