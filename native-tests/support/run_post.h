// Runs jtrace-post in the test's own process, on traces in memory or on disk.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "native-tests/support/csv.h"

namespace jtrace::testing {

// The exit code and output of jtrace-post.
struct RunResult {
  int exit_code = -1;
  std::string out;
  std::string err;
};

// Inputs not in `files` are opened from disk.
RunResult RunPost(const std::vector<std::string>& args,
                  const std::map<std::string, std::string>& files = {},
                  std::function<bool(int64_t, const std::string&)> is_writing = nullptr);

// The CSV of one report of a trace given as text.
std::string ReportCsv(const std::string& trace, std::vector<std::string> args);

// These columns of one report of a trace given as text.
std::vector<CsvRow> Rows(const std::string& trace, const std::string& report,
                         const CsvRow& columns);

}  // namespace jtrace::testing
