// The command line of `jtrace fleet`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "postproc/fleet/queries.h"

namespace jtrace::control {

struct FleetOptions {
  std::string query;  // "top", "tree", …
  std::string data;   // the folder, absolute
  postproc::fleet::QueryParams params;
  postproc::fleet::RunFilter filter;
  bool as_csv = false;
  bool only_sql = false;
  int width = 0;        // of text; 0: the terminal's
  std::string library;  // --duckdb=, absolute; empty: beside jtrace
  std::string engine;   // the URL of a Spark master; empty: DuckDB in this process
  std::string spark;    // --spark=, absolute; empty: SPARK_HOME
};

// InvalidArgument, one line: an unknown query or option, a value that is not one, a folder that is
// not there, or what a query lacks.
absl::StatusOr<FleetOptions> ReadFleetOptions(const std::string& query,
                                              const std::vector<std::string>& rest);

// Of `jtrace fleet --help`.
std::string FleetHelpText();

}  // namespace jtrace::control
