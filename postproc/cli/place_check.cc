#include "postproc/cli/place_check.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <system_error>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "postproc/cli/answer_rows.h"
#include "postproc/fleet/queries.h"
#include "postproc/fleet/schema.h"
#include "postproc/support/strings.h"

namespace jtrace::control {
namespace {

namespace fs = std::filesystem;
using postproc::StrCat;
using postproc::duckdb::Answer;
using postproc::duckdb::Session;
using postproc::fleet::TableId;
using postproc::fleet::TableName;

using FilesByTable = std::map<TableId, std::vector<FileFacts>>;

// A file that is being written is not old; that of a killed conversion becomes so.
std::string YoungPart(const std::vector<FileFacts>& files) {
  constexpr int64_t kHour = int64_t{3600} * 1'000'000'000;
  const int64_t now = absl::ToUnixNanos(absl::Now());
  for (const FileFacts& file : files) {
    if (file.name.ends_with(".part") && now - file.changed_ns <= kHour) return file.name;
  }
  return "";
}

absl::StatusOr<std::string> WhyNotByNames(const fs::path& data, const fs::path& place,
                                          FilesByTable& tables) {
  for (size_t i = 0; i < postproc::fleet::kTables; ++i) {
    const auto table = static_cast<TableId>(i);
    const fs::path folder = data / TableName(table) / place;
    std::error_code error;
    if (!fs::exists(folder, error)) continue;
    const absl::StatusOr<std::string> stranger = StrangerIn(folder);
    if (!stranger.ok()) return stranger.status();
    if (!stranger->empty()) {
      return StrCat(TableName(table), " has ", *stranger, ", which is not jtrace's; move it away");
    }
    absl::StatusOr<std::vector<FileFacts>> files = FilesOf(folder);
    if (!files.ok()) return files.status();
    if (const std::string part = YoungPart(*files); !part.empty()) {
      return StrCat(part, " is being written");
    }
    tables[table] = std::move(*files);
  }
  return "";
}

// Those of a conversion that was killed or whose disk was full: it writes `runs` last. Merged, they
// would count twice after the next try, which replaces only files of its own name.
absl::StatusOr<std::string> TableOfHalfRun(const fs::path& data, const fs::path& place,
                                           const FilesByTable& tables, const std::string& runs,
                                           Session& session) {
  for (const auto& [table, files] : tables) {
    const auto columns = postproc::fleet::ColumnsOf(table);
    const bool has_runs = std::any_of(columns.begin(), columns.end(),
                                      [](const auto& column) { return column.name == "run_id"; });
    if (table == postproc::fleet::kRuns || !has_runs || TablesOf(files) == 0) continue;
    const std::string rows = RowsOf(data / TableName(table) / place, files);
    const absl::StatusOr<int64_t> missing =
        NumberOf(session, StrCat("SELECT COUNT(*) FROM (SELECT DISTINCT run_id FROM ", rows,
                                 ") t ANTI JOIN (SELECT DISTINCT run_id FROM ", runs,
                                 ") r ON t.run_id = r.run_id"));
    if (!missing.ok()) return missing.status();
    if (*missing > 0) return std::string(TableName(table));
  }
  return "";
}

absl::StatusOr<std::string> WhyNotByRuns(const fs::path& data, const fs::path& place,
                                         const FilesByTable& tables, Session& session) {
  const std::string runs =
      RowsOf(data / TableName(postproc::fleet::kRuns) / place, tables.at(postproc::fleet::kRuns));
  const absl::StatusOr<int64_t> twice =
      NumberOf(session, StrCat("SELECT COUNT(*) - COUNT(DISTINCT run_id) FROM ", runs));
  if (!twice.ok()) return twice.status();
  if (*twice > 0) return StrCat(*twice, " runs are in two files; jtrace fleet check");
  absl::StatusOr<std::string> table = TableOfHalfRun(data, place, tables, runs, session);
  if (!table.ok() || table->empty()) return table;
  return StrCat(*table,
                " has a run that is not in runs: its conversion did not end; convert it again");
}

}  // namespace

size_t TablesOf(const std::vector<FileFacts>& files) {
  return static_cast<size_t>(std::count_if(files.begin(), files.end(), [](const FileFacts& file) {
    return file.name.ends_with(".parquet");
  }));
}

std::string RowsOf(const fs::path& folder, const std::vector<FileFacts>& files) {
  std::string names;
  for (const FileFacts& file : files) {
    if (!file.name.ends_with(".parquet")) continue;
    const std::string path = (folder / file.name).string();
    postproc::StrAppend(&names, names.empty() ? "" : ", ",
                        postproc::fleet::SqlText(postproc::fleet::Dialect::kDuckDb, path));
  }
  return StrCat("read_parquet([", names, "], union_by_name = true, hive_partitioning = false)");
}

absl::StatusOr<int64_t> NumberOf(Session& session, const std::string& sql) {
  const absl::StatusOr<Answer> answer = session.Query(sql);
  if (!answer.ok()) return answer.status();
  const bool has_one = answer->rows.size() == 1 && answer->columns.size() == 1;
  if (!has_one) return absl::InternalError("DuckDB: a number has several rows");
  return AnswerRows(*answer).Number(0, answer->columns.front());
}

absl::StatusOr<std::string> WhyNotMerge(const fs::path& data, const fs::path& place,
                                        Session& session) {
  FilesByTable tables;
  absl::StatusOr<std::string> reason = WhyNotByNames(data, place, tables);
  if (!reason.ok() || !reason->empty()) return reason;
  const bool has_several = std::any_of(
      tables.begin(), tables.end(), [](const auto& table) { return TablesOf(table.second) > 1; });
  return has_several ? WhyNotByRuns(data, place, tables, session) : "";
}

}  // namespace jtrace::control
