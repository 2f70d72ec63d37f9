#include "postproc/fleet/queries.h"

#include "absl/strings/str_format.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc::fleet {
namespace {

constexpr std::string_view kPartitionColumns[] = {"service", "day", "host"};

std::string_view CreateView(Dialect dialect) {
  return dialect == Dialect::kSpark ? "CREATE TEMPORARY VIEW " : "CREATE VIEW ";
}

// A table of which no run has a row.
std::string EmptyRows(Dialect dialect, TableId table) {
  const std::string_view text = dialect == Dialect::kSpark ? "STRING" : "VARCHAR";
  std::string columns;
  for (const parquet::ColumnSpec& column : ColumnsOf(table)) {
    const bool is_text = column.type == parquet::Type::kText;
    StrAppend(&columns, "CAST(NULL AS ", is_text ? text : SqlType(column.type), ") AS ",
              column.name, ", ");
  }
  for (const std::string_view column : kPartitionColumns) {
    StrAppend(&columns, "CAST(NULL AS ", text, ") AS ", column, column == "host" ? "" : ", ");
  }
  return StrCat("SELECT ", columns, " WHERE false");
}

std::string Condition(Dialect dialect, const RunFilter& filter) {
  const std::string* const wanted[] = {&filter.service, &filter.day, &filter.host};
  std::string condition;
  for (size_t i = 0; i < std::size(wanted); ++i) {
    if (wanted[i]->empty()) continue;
    StrAppend(&condition, condition.empty() ? " WHERE " : " AND ", kPartitionColumns[i], " = ",
              SqlText(dialect, *wanted[i]));
  }
  return condition;
}

}  // namespace

std::string SqlText(Dialect dialect, std::string_view text) {
  std::string quoted(text);
  if (dialect == Dialect::kSpark) {
    ReplaceAll(quoted, "\\", "\\\\");
    ReplaceAll(quoted, "'", "\\'");
  } else {
    ReplaceAll(quoted, "'", "''");
  }
  return StrCat("'", quoted, "'");
}

std::string_view FindQuery(std::string_view name) {
  for (const QueryText& query : AllQueries()) {
    if (query.name == name) return query.sql;
  }
  return {};
}

std::vector<std::string> ViewsOf(Dialect dialect, TableId table, std::string_view data,
                                 const RunFilter& filter, bool is_empty) {
  const std::string_view name = TableName(table);
  const std::string head = StrCat(CreateView(dialect), name, " AS ");
  if (is_empty) return {StrCat(head, EmptyRows(dialect, table))};
  const std::string condition = Condition(dialect, filter);
  if (dialect == Dialect::kDuckDb) {
    return {StrCat(head, "SELECT * FROM read_parquet(",
                   SqlText(dialect, StrCat(data, "/", name, "/*/*/*/*.parquet")),
                   ", hive_partitioning = true, union_by_name = true,"
                   " hive_types = {'service': VARCHAR, 'day': VARCHAR, 'host': VARCHAR})",
                   condition)};
  }
  // Other names than these are of files that are being written.
  return {StrCat(CreateView(dialect), name, "_files USING parquet OPTIONS (path ",
                 SqlText(dialect, StrCat("file://", data, "/", name)),
                 ", mergeSchema 'true', pathGlobFilter '*.parquet')"),
          StrCat(head, "SELECT * FROM ", name, "_files", condition)};
}

std::string ParamsView(Dialect dialect, const QueryParams& params) {
  const auto quoted = [dialect](std::string_view text) { return SqlText(dialect, text); };
  return StrCat(CreateView(dialect), "params AS SELECT ", params.top, " AS top, CAST(",
                absl::StrFormat("%.9g", params.percent), " AS DOUBLE) AS percent, ",
                quoted(params.routine), " AS routine, ", quoted(params.compare_by),
                " AS compare_by, ", quoted(params.before), " AS before_value, ",
                quoted(params.after), " AS after_value");
}

}  // namespace jtrace::postproc::fleet
