// The table of jtrace-post's options: their names, texts of the help, and parsers.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "postproc/input/command_line.h"

namespace jtrace::postproc {

struct Option {
  std::string_view name;
  std::string_view value;  // its value; empty: it takes none
  std::string_view help;
  std::string_view example;
  absl::Status (*set)(std::string_view value, CommandLine& line);
};

absl::Span<const Option> AllOptions();
// Null: no option has that name.
const Option* FindOption(std::string_view name);

}  // namespace jtrace::postproc
