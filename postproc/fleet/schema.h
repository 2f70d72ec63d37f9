// The tables and their columns: SCHEMA.md describes each. A change of this list is a new version.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/types/span.h"
#include "postproc/parquet/column.h"

namespace jtrace::postproc::fleet {

// 2 added samples.labels. Later ones may add nullable columns and tables; nothing is renamed,
// removed, or changes its meaning, so that files of all versions are read together by the names of
// their columns.
inline constexpr int64_t kSchemaVersion = 2;

enum TableId : uint8_t {
  kRuns,
  kRoutines,
  kPaths,
  kNodes,
  kArcs,
  kSamples,
  kThreads,
  kMetrics,
  kClasses,
  kLosses,
};
inline constexpr size_t kTables = 10;

std::string_view TableName(TableId table);
absl::Span<const parquet::ColumnSpec> ColumnsOf(TableId table);
// "BIGINT", "VARCHAR", …: as DuckDB calls a column's type, and Spark but for text, which it calls
// STRING.
std::string_view SqlType(parquet::Type type);

}  // namespace jtrace::postproc::fleet
