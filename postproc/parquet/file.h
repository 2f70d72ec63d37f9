// A table, and its file: Apache Parquet with pages of version 1, plain or with a dictionary,
// compressed with zstd.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "postproc/parquet/column.h"
#include "postproc/parquet/column_chunk.h"

namespace jtrace::postproc::parquet {

class Table {
 public:
  explicit Table(absl::Span<const ColumnSpec> specs) : columns_(specs.begin(), specs.end()) {}

  // Each gets one value a row.
  Column& operator[](size_t column) { return columns_[column]; }
  const std::vector<Column>& columns() const { return columns_; }
  size_t rows() const { return columns_.empty() ? 0 : columns_.front().rows(); }
  // Rows with the same values in these columns get neighbours, and else keep their order: what they
  // share is then a run, or a repetition that zstd sees.
  void GroupRows(absl::Span<const std::string_view> columns);

 private:
  std::vector<Column> columns_;
};

// Key and value, in the file's footer.
using Notes = std::vector<std::pair<std::string, std::string>>;

// The bytes of the file, in one row group. Internal if a column lacks values of some rows, or zstd
// fails.
absl::StatusOr<std::string> EncodeFile(const Table& table, const Notes& notes,
                                       std::string_view created_by, const PageLimits& limits = {});

}  // namespace jtrace::postproc::parquet
