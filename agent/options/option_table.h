// The option table: an entry has everything about an option except its field in Options and its
// use. The parser, help, the description in traces and docs/OPTIONS.md all read the table.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "agent/options/options.h"

namespace jtrace {

struct OptionEntry {
  absl::string_view name;
  absl::string_view value = {};  // the form of the value; empty: the option takes none
  absl::string_view help;
  // For docs/OPTIONS.md: what holds without the option, and an example. A test parses each example.
  absl::string_view initial = {};
  absl::string_view example;
  // Reads a value into the options. The error follows "option 'NAME': ".
  absl::Status (*parse)(absl::string_view value, Options& options);
  // Returns the values from which `parse` restores the option, one for each occurrence of it; none
  // if it has its default. Null: the option says nothing about what is recorded.
  std::vector<std::string> (*describe)(const Options& options) = nullptr;
  // Called in the order of the table when all options are parsed: completes this option by the
  // others, or returns how it contradicts them. The error follows "option 'NAME': ".
  absl::Status (*finish)(Options& options) = nullptr;
};

// In the order of the help.
absl::Span<const OptionEntry> OptionTable();

// The parser of config=FILE, which applies the table to each line of the file (options.cc).
absl::Status ParseConfig(absl::string_view value, Options& options);

}  // namespace jtrace
