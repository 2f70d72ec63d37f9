#include "postproc/parquet/file.h"

#include <algorithm>
#include <numeric>

#include "postproc/support/strings.h"

namespace jtrace::postproc::parquet {
namespace {

constexpr std::string_view kMagic = "PAR1";
constexpr int kVersion = 2;
constexpr int kUtf8 = 0;  // the old mark of text, beside the logical type

void WriteSchema(const Table& table, ThriftWriter& thrift) {
  thrift.Structs(2, table.columns().size() + 1, [&](size_t i) {
    if (i == 0) {
      thrift.Binary(4, "schema");
      thrift.Int(5, static_cast<int64_t>(table.columns().size()));
      return;
    }
    const ColumnSpec& spec = table.columns()[i - 1].spec();
    thrift.Int(1, PhysicalType(spec.type));
    thrift.Int(3, spec.nullable ? 1 : 0);
    thrift.Binary(4, spec.name);
    if (spec.type != Type::kText) return;
    thrift.Int(6, kUtf8);
    thrift.Struct(10, [&] { thrift.Struct(1, [] {}); });
  });
}

void WriteRowGroup(const Table& table, const std::vector<ColumnChunk>& chunks,
                   ThriftWriter& thrift) {
  int64_t uncompressed = 0;
  int64_t compressed = 0;
  thrift.Structs(1, chunks.size(), [&](size_t i) {
    const int64_t offset = static_cast<int64_t>(kMagic.size()) + compressed;
    thrift.Wide(2, offset);
    thrift.Struct(3, [&] { chunks[i].WriteMetaData(table.columns()[i].spec(), offset, thrift); });
    compressed += static_cast<int64_t>(chunks[i].bytes.size());
    uncompressed += chunks[i].uncompressed;
  });
  thrift.Wide(2, uncompressed);
  thrift.Wide(3, static_cast<int64_t>(table.rows()));
  thrift.Wide(5, static_cast<int64_t>(kMagic.size()));
  thrift.Wide(6, compressed);
}

std::string Footer(const Table& table, const std::vector<ColumnChunk>& chunks, const Notes& notes,
                   std::string_view created_by) {
  std::string footer;
  ThriftWriter thrift(footer);
  thrift.Int(1, kVersion);
  WriteSchema(table, thrift);
  thrift.Wide(3, static_cast<int64_t>(table.rows()));
  thrift.Structs(4, table.rows() == 0 ? 0 : 1,
                 [&](size_t) { WriteRowGroup(table, chunks, thrift); });
  if (!notes.empty()) {
    thrift.Structs(5, notes.size(), [&](size_t i) {
      thrift.Binary(1, notes[i].first);
      thrift.Binary(2, notes[i].second);
    });
  }
  thrift.Binary(6, created_by);
  // The extremes are ordered as the type defines.
  thrift.Structs(7, chunks.size(), [&](size_t) { thrift.Struct(1, [] {}); });
  thrift.End();
  return footer;
}

}  // namespace

void Table::GroupRows(absl::Span<const std::string_view> columns) {
  // EncodeFile says so.
  const auto is_short = [&](const Column& column) { return column.rows() != rows(); };
  if (std::any_of(columns_.begin(), columns_.end(), is_short)) return;
  std::vector<const std::vector<uint32_t>*> keys;
  for (const std::string_view name : columns) {
    for (const Column& column : columns_) {
      if (column.spec().name == name) keys.push_back(&column.indexes());
    }
  }
  std::vector<uint32_t> order(rows());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    for (const std::vector<uint32_t>* key : keys) {
      if ((*key)[a] != (*key)[b]) return (*key)[a] < (*key)[b];
    }
    return false;
  });
  for (Column& column : columns_) column.Reorder(order);
}

absl::StatusOr<std::string> EncodeFile(const Table& table, const Notes& notes,
                                       std::string_view created_by, const PageLimits& limits) {
  std::string bytes(kMagic);
  std::vector<ColumnChunk> chunks;
  for (const Column& column : table.columns()) {
    if (column.rows() != table.rows()) {
      return absl::InternalError(StrCat("column ", column.spec().name, " has ", column.rows(),
                                        " values for ", table.rows(), " rows"));
    }
    absl::StatusOr<ColumnChunk> chunk = EncodeColumn(column, limits);
    if (!chunk.ok()) return chunk.status();
    if (table.rows() > 0) bytes.append(chunk->bytes);
    chunks.push_back(*std::move(chunk));
  }
  const std::string footer = Footer(table, chunks, notes, created_by);
  bytes.append(footer);
  const auto size = static_cast<uint32_t>(footer.size());
  for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<char>(size >> shift));
  bytes.append(kMagic);
  return bytes;
}

}  // namespace jtrace::postproc::parquet
