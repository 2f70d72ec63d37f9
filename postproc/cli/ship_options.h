// The command line of `jtrace ship`.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "postproc/ship/http_target.h"
#include "postproc/ship/shipper.h"

namespace jtrace::control {

struct ShipOptions {
  ship::ShipPolicy policy;
  std::vector<std::string> tables;          // folders, absolute
  std::vector<ship::HttpSettings> servers;  // without their work folder
  std::vector<std::string> labels;          // "service=shop"
  bool once = false;
  int niceness = 10;
  std::string curl;  // --curl=, absolute; empty: where systems have it
};

// InvalidArgument, one line: a folder that is not there, an unknown option, a value that is not
// one.
absl::StatusOr<ShipOptions> ReadShipOptions(const std::string& folder,
                                            const std::vector<std::string>& rest);

// Of `jtrace ship --help`.
std::string ShipHelpText();

}  // namespace jtrace::control
