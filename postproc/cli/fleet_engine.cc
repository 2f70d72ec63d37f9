#include "postproc/cli/fleet_engine.h"

#include <algorithm>
#include <filesystem>
#include <string>

#include "postproc/cli/fleet_folder.h"
#include "postproc/cli/fleet_spark.h"
#include "postproc/cli/own_files.h"
#include "postproc/duckdb/library.h"
#include "postproc/fleet/queries.h"
#include "postproc/fleet/schema.h"
#include "postproc/support/strings.h"

namespace jtrace::control {
namespace {

using postproc::StrCat;
using postproc::duckdb::Answer;
using postproc::duckdb::Session;
using postproc::fleet::Dialect;
using postproc::fleet::TableId;

// The query without its comments: which tables does it name?
std::string WithoutComments(std::string_view sql) {
  std::string code;
  for (const std::string_view line : postproc::Split(sql, '\n')) {
    if (!line.starts_with("--")) code += StrCat(line, "\n");
  }
  return code;
}

absl::StatusOr<std::vector<Answer>> AskDuckDb(const FleetOptions& options,
                                              absl::Span<const std::string> views,
                                              absl::Span<const std::string_view> queries) {
  absl::StatusOr<Session> session = OpenDuckDb(options);
  if (!session.ok()) return session.status();
  for (const std::string& view : views) {
    if (const auto done = session->Query(view); !done.ok()) return done.status();
  }
  std::vector<Answer> answers;
  for (const std::string_view query : queries) {
    absl::StatusOr<Answer> answer = session->Query(std::string(postproc::fleet::FindQuery(query)));
    if (!answer.ok()) return answer.status();
    answers.push_back(*std::move(answer));
  }
  return answers;
}

}  // namespace

absl::StatusOr<Session> OpenDuckDb(const FleetOptions& options) {
  const std::string library = options.library.empty() ? FindOwnDuckDb() : options.library;
  constexpr std::string_view kRemedy =
      "get it with scripts/fleet.sh, or name a libduckdb.so with --duckdb=PATH (npm: "
      "@duckdb/node-bindings-linux-x64)";
  if (library.empty()) return absl::NotFoundError(StrCat("DuckDB is not beside jtrace: ", kRemedy));
  const auto loaded = postproc::duckdb::LoadLibrary(library);
  if (!loaded.ok()) {
    return absl::NotFoundError(StrCat("DuckDB cannot be loaded (",
                                      std::string(loaded.status().message()), "): ", kRemedy));
  }
  return Session::Open(*loaded);
}

// Only the tables that the query names: an engine opens every file of a view.
std::vector<std::string> FleetViews(const FleetOptions& options, std::string_view query) {
  const Dialect dialect = options.engine.empty() ? Dialect::kDuckDb : Dialect::kSpark;
  const std::string code = WithoutComments(postproc::fleet::FindQuery(query));
  std::vector<std::string> views = {postproc::fleet::ParamsView(dialect, options.params)};
  for (size_t i = 0; i < postproc::fleet::kTables; ++i) {
    const auto table = static_cast<TableId>(i);
    const std::string_view name = postproc::fleet::TableName(table);
    const bool is_named = code.find(StrCat("FROM ", name)) != std::string::npos ||
                          code.find(StrCat("JOIN ", name)) != std::string::npos;
    if (!is_named) continue;
    const bool is_empty = !HasTables(std::filesystem::path(options.data) / name);
    for (std::string& view :
         postproc::fleet::ViewsOf(dialect, table, options.data, options.filter, is_empty)) {
      views.push_back(std::move(view));
    }
  }
  return views;
}

absl::StatusOr<std::vector<Answer>> AskFleet(const FleetOptions& options,
                                             absl::Span<const std::string_view> queries) {
  std::vector<std::string> views;
  for (const std::string_view query : queries) {
    for (std::string& view : FleetViews(options, query)) {
      const bool is_new = std::find(views.begin(), views.end(), view) == views.end();
      if (is_new) views.push_back(std::move(view));
    }
  }
  return options.engine.empty() ? AskDuckDb(options, views, queries)
                                : AskSpark(options, views, queries);
}

}  // namespace jtrace::control
