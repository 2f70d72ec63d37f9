#include "postproc/cli/fleet_command.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "common/visible_text.h"
#include "postproc/cli/fleet_answer.h"
#include "postproc/cli/fleet_folder.h"
#include "postproc/cli/fleet_options.h"
#include "postproc/cli/fleet_trace.h"
#include "postproc/cli/own_files.h"
#include "postproc/duckdb/library.h"
#include "postproc/duckdb/session.h"
#include "postproc/fleet/queries.h"
#include "postproc/fleet/schema.h"
#include "postproc/support/printable_stream.h"
#include "postproc/support/strings.h"
#include "postproc/support/terminal.h"
#include "proto/control_protocol.h"

namespace jtrace::control {
namespace {

using postproc::StrCat;
using postproc::duckdb::Answer;
using postproc::duckdb::Session;
using postproc::fleet::TableId;

constexpr int64_t kFlowChecks = 4;  // the first rows of the query `check`
constexpr int64_t kAllChecks = 1000;

int TextWidth() {
  constexpr int kUsual = 120;
  const int columns = postproc::TerminalColumns(STDOUT_FILENO);
  return columns > 0 ? columns : kUsual;
}

// The query without its comments: which tables does it name?
std::string WithoutComments(std::string_view sql) {
  std::string code;
  for (const std::string_view line : postproc::Split(sql, '\n')) {
    if (!line.starts_with("--")) code += StrCat(line, "\n");
  }
  return code;
}

// One call of the command.
class Fleet {
 public:
  Fleet(const FleetOptions& options, std::ostream& out) : options_(options), out_(out) {}

  absl::Status Run();
  bool has_broken() const { return broken_ > 0; }

 private:
  std::vector<std::string> Views(std::string_view query) const;
  absl::StatusOr<Session> Open() const;
  absl::StatusOr<Answer> Ask(Session& session, std::string_view query);
  absl::Status Answered(Session& session);
  absl::Status Show(Session& session, std::string_view query);
  absl::Status WriteTrace(Session& session);
  void WriteSql() const;

  const FleetOptions& options_;
  std::ostream& out_;
  std::vector<std::string> made_;  // views
  int broken_ = 0;
};

// Those that the query names: each opens every file of its table.
std::vector<std::string> Fleet::Views(std::string_view query) const {
  const std::string code = WithoutComments(postproc::fleet::FindQuery(query));
  std::vector<std::string> views = {postproc::fleet::ParamsView(options_.params)};
  for (size_t i = 0; i < postproc::fleet::kTables; ++i) {
    const auto table = static_cast<TableId>(i);
    const std::string_view name = postproc::fleet::TableName(table);
    const bool is_named = code.find(StrCat("FROM ", name)) != std::string::npos ||
                          code.find(StrCat("JOIN ", name)) != std::string::npos;
    if (!is_named) continue;
    const bool is_empty = !HasTables(std::filesystem::path(options_.data) / name);
    views.push_back(postproc::fleet::ViewOf(table, options_.data, options_.filter, is_empty));
  }
  return views;
}

absl::StatusOr<Session> Fleet::Open() const {
  const std::string library = options_.library.empty() ? FindOwnDuckDb() : options_.library;
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

absl::StatusOr<Answer> Fleet::Ask(Session& session, std::string_view query) {
  for (const std::string& view : Views(query)) {
    if (std::find(made_.begin(), made_.end(), view) != made_.end()) continue;
    if (const auto done = session.Query(view); !done.ok()) return done.status();
    made_.push_back(view);
  }
  return session.Query(std::string(postproc::fleet::FindQuery(query)));
}

absl::Status Fleet::Show(Session& session, std::string_view query) {
  const absl::StatusOr<Answer> answer = Ask(session, query);
  if (!answer.ok()) return answer.status();
  if (options_.as_csv || query == "flat") {
    WriteAnswerCsv(*answer, out_);
  } else if (query == "check") {
    broken_ = WriteChecks(*answer, options_.query == "check" ? kAllChecks : kFlowChecks, out_);
  } else {
    WriteAnswerText(query, *answer, options_.width > 0 ? options_.width : TextWidth(), out_);
  }
  return absl::OkStatus();
}

absl::Status Fleet::WriteTrace(Session& session) {
  const absl::StatusOr<Answer> nodes = Ask(session, "merged_nodes");
  if (!nodes.ok()) return nodes.status();
  const absl::StatusOr<Answer> samples = Ask(session, "merged_samples");
  if (!samples.ok()) return samples.status();
  WriteMergedTrace(*nodes, *samples, out_);
  return absl::OkStatus();
}

absl::Status Fleet::Answered(Session& session) {
  if (options_.query == "trace") return WriteTrace(session);
  if (options_.query == "hosts" && !options_.as_csv) {
    if (absl::Status status = Show(session, "percentiles"); !status.ok()) return status;
    out_ << "\nhosts where a call costs unusually much\n";
  }
  if (absl::Status status = Show(session, options_.query); !status.ok()) return status;
  if (options_.query != "arcs" || options_.as_csv) return absl::OkStatus();
  out_ << '\n';
  return Show(session, "check");
}

void Fleet::WriteSql() const {
  std::vector<std::string> made;
  std::vector<std::string_view> queries = {options_.query};
  if (options_.query == "trace") queries = {"merged_nodes", "merged_samples"};
  for (const std::string_view query : queries) {
    for (const std::string& view : Views(query)) {
      if (std::find(made.begin(), made.end(), view) != made.end()) continue;
      out_ << view << ";\n\n";
      made.push_back(view);
    }
    out_ << postproc::fleet::FindQuery(query) << ";\n";
  }
}

absl::Status Fleet::Run() {
  if (options_.only_sql) {
    WriteSql();
    return absl::OkStatus();
  }
  if (absl::Status status = CheckFolder(options_.data, options_.filter); !status.ok())
    return status;
  absl::StatusOr<Session> session = Open();
  if (!session.ok()) return session.status();
  return Answered(*session);
}

}  // namespace

int RunFleet(const CommandLine& line, std::ostream& out, std::ostream& err) {
  const absl::StatusOr<FleetOptions> options = ReadFleetOptions(line.target, line.rest);
  absl::Status status = options.status();
  bool has_broken = false;
  if (options.ok()) {
    // Names are those of programs: text is for a terminal, CSV for other programs.
    postproc::PrintableBuffer printable(out);
    std::ostream shown(&printable);
    const bool is_for_programs = options->as_csv || options->only_sql || options->query == "trace";
    Fleet fleet(*options, is_for_programs ? out : shown);
    status = fleet.Run();
    shown.flush();
    has_broken = fleet.has_broken();
  }
  out.flush();
  if (status.ok()) return has_broken ? kExitFailed : kExitDone;
  err << "jtrace: " << VisibleText(std::string(status.message())) << '\n';
  return absl::IsInvalidArgument(status) ? kExitUsage : kExitFailed;
}

}  // namespace jtrace::control
