// The table of the agent's options: name, form of the value, parser and help of each.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "agent/options/options.h"

namespace jtrace {

struct OptionRow {
  using Parser = absl::Status (*)(absl::string_view value, Options& options);

  absl::string_view name;
  absl::string_view value;  // the form of the value; empty: takes none
  Parser parse;
  absl::string_view help;
};

// In the order of the help.
absl::Span<const OptionRow> OptionTable();

// The parser of config=FILE, which applies the table to each line of the file (options.cc).
absl::Status ParseConfig(absl::string_view value, Options& options);

}  // namespace jtrace
