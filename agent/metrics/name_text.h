// Names that programs chose, as the formats of metrics want them. Pure.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace jtrace::metrics {

// `text`, modified UTF-8 as JVMTI hands it out (or anything else), as UTF-8: pairs of surrogates
// become the characters that they stand for, invalid bytes become U+FFFD.
std::string Utf8Of(absl::string_view text);

// A label's value in the exposition format of Prometheus, without quotes.
std::string PrometheusLabel(absl::string_view utf8);

}  // namespace jtrace::metrics
