// What is known of a run that its trace may not say: --label=KEY=VALUE.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace jtrace::postproc::fleet {

struct Labels {
  std::string service;    // empty: the program's name, from the trace's command
  std::string version;    // of the service
  std::string host;       // empty: that of the trace
  std::string container;  // its name or id
};

// Sets the one that "KEY=VALUE" names; InvalidArgument for others and for an empty value.
absl::Status SetLabel(std::string_view text, Labels& labels);

}  // namespace jtrace::postproc::fleet
