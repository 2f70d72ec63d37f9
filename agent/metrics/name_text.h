// Names that programs gave, made fit for what they are written into. Pure.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace jtrace::metrics {

// `text`, modified UTF-8 as JVMTI hands it out (or anything else), as UTF-8: pairs of surrogates
// become the characters that they stand for, what is no character becomes U+FFFD.
std::string Utf8Of(absl::string_view text);

// Of UTF-8.
std::string JsonString(absl::string_view utf8);       // with its quotes
std::string PrometheusLabel(absl::string_view utf8);  // a label's value, without quotes
// Nothing that a terminal would obey: control characters and those that change the direction of
// the text come as \x1b and \u202e.
std::string Printable(absl::string_view utf8);

// `utf8` in exactly `columns` columns of a terminal: cut off with "…", or filled up with spaces.
std::string Column(absl::string_view utf8, size_t columns);
// Columns that it takes.
size_t ColumnsOf(absl::string_view utf8);

}  // namespace jtrace::metrics
