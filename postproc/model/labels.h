// Labels that a program gave to its threads (JTrace.label), and their text:
// "kind=query,tenant=acme".
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace jtrace::postproc {

// Keys and values.
using Labels = std::vector<std::pair<std::string, std::string>>;

// Valid UTF-8, sorted by key, each key once, with the last of its values; none without a key or a
// value.
Labels Normalized(Labels labels);
// Pairs KEY=VALUE, separated by commas. A backslash is written before a comma and a backslash, and
// in a key before an equals sign, too.
std::string LabelText(const Labels& labels);
// The reverse, of any text.
Labels ParseLabelText(std::string_view text);

}  // namespace jtrace::postproc
