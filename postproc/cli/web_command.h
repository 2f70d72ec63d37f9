// jtrace web: serves the page of a running JVM until Ctrl-C. The server runs in this process, never
// in the JVM.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "postproc/cli/jvm_process.h"

namespace jtrace::control {

struct WebOptions {
  uint16_t port = 0;                // 0: any that is free
  std::vector<std::string> report;  // jtrace-post's
};

// "--port=8080 OPTION …". InvalidArgument, one line: the port is not one, or an option is about
// another form of output than the page.
absl::StatusOr<WebOptions> ReadWebOptions(const std::vector<std::string>& rest);

// Of `jtrace web --help`.
std::string WebHelpText();

// Prints the page's address to `out`, and what changes to `err`. Returns when SIGINT, SIGTERM or
// SIGHUP arrives. NotFound: nothing is recorded in the JVM, with the remedy; Unavailable: the port
// is in use.
absl::Status ServePage(const JvmProcess& jvm, const WebOptions& options, std::ostream& out,
                       std::ostream& err);

}  // namespace jtrace::control
