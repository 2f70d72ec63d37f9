// A column's rows as pages, in the form of a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "postproc/parquet/column.h"
#include "postproc/parquet/thrift.h"

namespace jtrace::postproc::parquet {

struct PageLimits {
  size_t rows_in_page = 1 << 16;
  int zstd_level = 6;
};

// The numbers of Parquet's enumerations.
constexpr int kEncodingPlain = 0;
constexpr int kEncodingRle = 3;
constexpr int kEncodingRleDictionary = 8;
int PhysicalType(Type type);

// All columns of a file have the same rows, those of one chunk here: there is one row group.
struct ColumnChunk {
  std::string bytes;  // pages, compressed
  int64_t uncompressed = 0;
  bool has_dictionary = false;
  int64_t data_offset = 0;  // of the first data page in `bytes`
  int64_t rows = 0;
  int64_t nulls = 0;
  // The least and greatest value in plain encoding; empty for text, and without values.
  std::string least;
  std::string greatest;

  // The struct ColumnMetaData, for a chunk at `offset` of the file.
  void WriteMetaData(const ColumnSpec& spec, int64_t offset, ThriftWriter& thrift) const;
};

// An error if zstd fails.
absl::StatusOr<ColumnChunk> EncodeColumn(const Column& column, const PageLimits& limits);

}  // namespace jtrace::postproc::parquet
