#include "postproc/fleet/queries.h"

#include "absl/strings/str_format.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc::fleet {
namespace {

constexpr std::string_view kPartitionColumns[] = {"service", "day", "host"};

std::string Quoted(std::string_view text) {
  std::string quoted(text);
  ReplaceAll(quoted, "'", "''");
  return StrCat("'", quoted, "'");
}

// A table of which no run has a row.
std::string EmptyRows(TableId table) {
  std::string columns;
  for (const parquet::ColumnSpec& column : ColumnsOf(table)) {
    StrAppend(&columns, "CAST(NULL AS ", SqlType(column.type), ") AS ", column.name, ", ");
  }
  for (const std::string_view column : kPartitionColumns) {
    StrAppend(&columns, "CAST(NULL AS VARCHAR) AS ", column, column == "host" ? "" : ", ");
  }
  return StrCat("SELECT ", columns, " WHERE false");
}

}  // namespace

std::string_view FindQuery(std::string_view name) {
  for (const QueryText& query : AllQueries()) {
    if (query.name == name) return query.sql;
  }
  return {};
}

std::string ViewOf(TableId table, std::string_view data, const RunFilter& filter, bool is_empty) {
  const std::string head = StrCat("CREATE VIEW ", TableName(table), " AS ");
  if (is_empty) return StrCat(head, EmptyRows(table));
  std::string sql = StrCat(head, "SELECT * FROM read_parquet(",
                           Quoted(StrCat(data, "/", TableName(table), "/*/*/*/*.parquet")),
                           ", hive_partitioning = true, union_by_name = true,"
                           " hive_types = {'service': VARCHAR, 'day': VARCHAR, 'host': VARCHAR})");
  const std::string* const wanted[] = {&filter.service, &filter.day, &filter.host};
  std::string_view link = " WHERE ";
  for (size_t i = 0; i < std::size(wanted); ++i) {
    if (wanted[i]->empty()) continue;
    StrAppend(&sql, link, kPartitionColumns[i], " = ", Quoted(*wanted[i]));
    link = " AND ";
  }
  return sql;
}

std::string ParamsView(const QueryParams& params) {
  return StrCat("CREATE VIEW params AS SELECT ", params.top, " AS top, CAST(",
                absl::StrFormat("%.9g", params.percent), " AS DOUBLE) AS percent, ",
                Quoted(params.routine), " AS routine, ", Quoted(params.compare_by),
                " AS compare_by, ", Quoted(params.before), " AS before_value, ",
                Quoted(params.after), " AS after_value");
}

}  // namespace jtrace::postproc::fleet
