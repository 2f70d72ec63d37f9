// What a profile that jtrace-post wrote says of its run.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"

namespace jtrace::ship {

struct PprofFacts {
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
  // Its comments: "service: shop".
  std::map<std::string, std::string> comments;
};

// Reads the gzipped file once from begin to end, without keeping its samples.
absl::StatusOr<PprofFacts> ReadPprofFacts(const std::string& file);

// Pyroscope's parameters: name=shop{host=…}&from=…&until=…&format=pprof, escaped.
std::string IngestQuery(const PprofFacts& facts);

}  // namespace jtrace::ship
