#include "postproc/cli/fleet_command.h"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/visible_text.h"
#include "postproc/cli/fleet_answer.h"
#include "postproc/cli/fleet_compact.h"
#include "postproc/cli/fleet_engine.h"
#include "postproc/cli/fleet_folder.h"
#include "postproc/cli/fleet_options.h"
#include "postproc/cli/fleet_trace.h"
#include "postproc/fleet/queries.h"
#include "postproc/support/exit_codes.h"
#include "postproc/support/printable_stream.h"
#include "postproc/support/terminal.h"
#include "proto/control_protocol.h"

namespace jtrace::control {
namespace {

using postproc::duckdb::Answer;

constexpr int64_t kFlowChecks = 4;  // the first rows of the query `check`
constexpr int64_t kAllChecks = 1000;

int TextWidth() {
  constexpr int kUsual = 120;
  const int columns = postproc::TerminalColumns(STDOUT_FILENO);
  return columns > 0 ? columns : kUsual;
}

// Those of postproc/fleet/sql that answer a query of the command line.
std::vector<std::string_view> QueriesOf(const FleetOptions& options) {
  if (options.query == "trace") return {"merged_nodes", "merged_samples"};
  if (options.as_csv) return {options.query};
  if (options.query == "hosts") return {"percentiles", "hosts"};
  if (options.query == "arcs") return {"arcs", "check"};
  return {options.query};
}

// One call of the command.
class Fleet {
 public:
  Fleet(const FleetOptions& options, std::ostream& out) : options_(options), out_(out) {}

  absl::Status Run();
  bool has_broken() const { return broken_ > 0; }

 private:
  void Show(std::string_view query, const Answer& answer);
  void WriteSql() const;

  const FleetOptions& options_;
  std::ostream& out_;
  int broken_ = 0;
};

void Fleet::Show(std::string_view query, const Answer& answer) {
  if (options_.as_csv || query == "flat") {
    WriteAnswerCsv(answer, out_);
  } else if (query == "check") {
    broken_ = WriteChecks(answer, options_.query == "check" ? kAllChecks : kFlowChecks, out_);
  } else {
    WriteAnswerText(query, answer, options_.width > 0 ? options_.width : TextWidth(), out_);
  }
}

void Fleet::WriteSql() const {
  std::vector<std::string> made;
  std::vector<std::string_view> queries = {options_.query};
  if (options_.query == "trace") queries = QueriesOf(options_);
  for (const std::string_view query : queries) {
    for (const std::string& view : FleetViews(options_, query)) {
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
  if (options_.query == "compact") return CompactFleet(options_, out_);
  const std::vector<std::string_view> queries = QueriesOf(options_);
  const absl::StatusOr<std::vector<Answer>> answers = AskFleet(options_, queries);
  if (!answers.ok()) return answers.status();
  if (options_.query == "trace") {
    WriteMergedTrace((*answers)[0], (*answers)[1], out_);
    return absl::OkStatus();
  }
  for (size_t i = 0; i < queries.size(); ++i) {
    if (i > 0) out_ << '\n';
    if (i > 0 && queries[i] == "hosts") out_ << "hosts where a call costs unusually much\n";
    Show(queries[i], (*answers)[i]);
  }
  return absl::OkStatus();
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
  return postproc::JtraceExitCodeOf(status);
}

}  // namespace jtrace::control
