// The queries of postproc/fleet/sql, and the views that they read.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "postproc/fleet/schema.h"

namespace jtrace::postproc::fleet {

struct QueryText {
  std::string_view name;
  std::string_view sql;
};
absl::Span<const QueryText> AllQueries();
// Empty for an unknown name.
std::string_view FindQuery(std::string_view name);

// The one row of the view `params`.
struct QueryParams {
  int64_t top = 20;
  double percent = 0.5;
  std::string routine;
  std::string compare_by;  // "version" or "day"
  std::string before;
  std::string after;
};

// Which runs the views have: empty for all.
struct RunFilter {
  std::string service;
  std::string day;
  std::string host;
};

enum class Dialect : uint8_t { kDuckDb, kSpark };

// As a literal.
std::string SqlText(Dialect dialect, std::string_view text);

// The statements that make the view of a table in the folder `data`, an absolute path without
// characters of a glob. Without files (`is_empty`) the view has the columns, and no rows.
std::vector<std::string> ViewsOf(Dialect dialect, TableId table, std::string_view data,
                                 const RunFilter& filter, bool is_empty);
std::string ParamsView(Dialect dialect, const QueryParams& params);

}  // namespace jtrace::postproc::fleet
