#include "postproc/cli/fleet_options.h"

#include "absl/strings/str_format.h"
#include "common/nearest.h"
#include "postproc/cli/fleet_option_table.h"
#include "postproc/support/exit_codes.h"
#include "postproc/support/strings.h"

namespace jtrace::control {
namespace {

using postproc::StrCat;

struct FleetQuery {
  std::string_view name;
  std::string_view help;
  std::string_view example;
};

constexpr FleetQuery kQueries[] = {
    {"top", "the routines that cost most", "jtrace fleet top --data=data --service=shop"},
    {"flat", "every routine with its exact sums, as CSV", "jtrace fleet flat --data=data"},
    {"tree", "the call trees of all runs as one", "jtrace fleet tree --data=data --filter=1"},
    {"arcs", "the pairs of caller and callee with the most time, and whether the arc flow holds",
     "jtrace fleet arcs --data=data --top=50"},
    {"diff", "two versions or days: exact calls, and times with intervals",
     "jtrace fleet diff --data=data --before=version=1.3 --after=version=1.4"},
    {"dead", "methods that had probes, and that no run called", "jtrace fleet dead --data=data"},
    {"hosts", "what a call costs by host, and hosts where it costs unusually much",
     "jtrace fleet hosts --data=data"},
    {"percentiles", "the first part of hosts alone", "jtrace fleet percentiles --data=data"},
    {"callers", "who calls a routine or the methods of a class (--of)",
     "jtrace fleet callers --data=data --of=org.h2.Driver.connect"},
    {"trace", "the merged tree as a trace, which jtrace-post makes pages and profiles of",
     "jtrace fleet trace --data=data > all.jtxt"},
    {"check", "whether the folder's tables agree with each other",
     "jtrace fleet check --data=data"},
    {"compact", "merge the files of each service, day and host, of days that are over",
     "jtrace fleet compact --data=data"},
};

absl::Status CheckQuery(const std::string& query) {
  std::vector<std::string_view> names;
  for (const FleetQuery& it : kQueries) {
    if (it.name == query) return absl::OkStatus();
    names.push_back(it.name);
  }
  return absl::InvalidArgumentError(StrCat("unknown query '", query, "'; nearest: ",
                                           Nearest(query, names), " (see jtrace fleet --help)"));
}

// What the query lacks.
absl::Status CheckComplete(const FleetOptions& options) {
  if (options.query == "trace" && options.as_csv) {
    return absl::InvalidArgumentError("fleet trace writes a trace: leave out --format");
  }
  if (options.query == "compact" &&
      (options.as_csv || options.only_sql || !options.engine.empty())) {
    return absl::InvalidArgumentError(
        "fleet compact writes tables by DuckDB: leave out --format, --sql and --engine");
  }
  if (options.data.empty()) {
    return absl::InvalidArgumentError(
        StrCat("fleet ", options.query, " needs a folder of tables: --data=DIR"));
  }
  if (options.query == "callers" && options.params.routine.empty()) {
    return absl::InvalidArgumentError(
        "fleet callers needs a routine or class, e.g. --of=org.h2.Driver.connect");
  }
  if (options.query == "diff" && (options.params.before.empty() || options.params.after.empty())) {
    return absl::InvalidArgumentError(
        "fleet diff needs two versions or days, e.g. --before=version=1.3 "
        "--after=version=1.4");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<FleetOptions> ReadFleetOptions(const std::string& query,
                                              const std::vector<std::string>& rest) {
  FleetOptions options;
  options.query = query;
  if (absl::Status status = CheckQuery(query); !status.ok()) return status;
  for (const std::string& argument : rest) {
    if (absl::Status status = SetFleetOption(argument, options); !status.ok()) return status;
  }
  if (absl::Status status = CheckComplete(options); !status.ok()) return status;
  return options;
}

std::string FleetHelpText() {
  std::string help =
      "jtrace fleet: answers from the tables of many runs (jtrace-post --report=parquet)\n\n"
      "usage: jtrace fleet QUERY --data=DIR [OPTION …]\n\n"
      "queries\n";
  for (const FleetQuery& query : kQueries) {
    absl::StrAppendFormat(&help, "  %-11s %s\n%14s e.g. %s\n", query.name, query.help, "",
                          query.example);
  }
  help += "\noptions\n";
  for (const FleetOption& option : AllFleetOptions()) {
    const std::string name = StrCat(option.name, option.value.empty() ? "" : "=", option.value);
    absl::StrAppendFormat(&help, "  %-20s %s\n", name, option.help);
  }
  help +=
      "\n"
      "The queries run on DuckDB in this process. scripts/fleet.sh gets its library, and so does\n"
      "npm pack @duckdb/node-bindings-linux-x64. On Spark they run by its spark-submit; its "
      "workers\n"
      "see the folder of --data under the same name.\n\n";
  return help + postproc::ExitCodesHelp(postproc::Program::kFleet);
}

}  // namespace jtrace::control
