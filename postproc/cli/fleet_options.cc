#include "postproc/cli/fleet_options.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_format.h"
#include "common/nearest.h"
#include "postproc/support/strings.h"

namespace jtrace::control {
namespace {

using postproc::ParseDouble;
using postproc::ParseInteger;
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
};

absl::Status BadFleet(const std::string& message) { return absl::InvalidArgumentError(message); }

absl::Status CheckQuery(const std::string& query) {
  std::vector<std::string_view> names;
  for (const FleetQuery& it : kQueries) {
    if (it.name == query) return absl::OkStatus();
    names.push_back(it.name);
  }
  return BadFleet(StrCat("unknown query '", query, "'; nearest: ", Nearest(query, names),
                         " (see jtrace fleet --help)"));
}

// "version=1.4" or "day=2026-11-25"
absl::Status SetSide(std::string_view option, std::string_view value, FleetOptions& options,
                     std::string& side) {
  const size_t equals = value.find('=');
  const std::string_view key = value.substr(0, equals);
  if (equals == std::string_view::npos || (key != "version" && key != "day")) {
    return BadFleet(StrCat(option, ": '", value, "' is not version=V or day=YYYY-MM-DD"));
  }
  std::string& by = options.params.compare_by;
  if (!by.empty() && by != key) return BadFleet("--before and --after: both version= or both day=");
  by = key;
  side = value.substr(equals + 1);
  return absl::OkStatus();
}

// The engine would read the characters of a glob as one.
absl::Status SetData(std::string_view value, FleetOptions& options) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::canonical(value, error);
  if (error || !std::filesystem::is_directory(folder, error)) {
    return BadFleet(StrCat("--data: there is no folder ", value,
                           "; jtrace-post --report=parquet -o DIR writes one"));
  }
  options.data = folder.string();
  if (options.data.find_first_of("*?[]{}") != std::string::npos) {
    return BadFleet(
        StrCat("--data: ", options.data, " has one of * ? [ ] { } in its name: rename it"));
  }
  return absl::OkStatus();
}

absl::Status SetNumber(std::string_view option, std::string_view value, int64_t most,
                       int64_t& number) {
  if (ParseInteger(value, number) && number >= 1 && number <= most) return absl::OkStatus();
  return BadFleet(StrCat(option, ": '", value, "' is not a number from 1 to ", most));
}

absl::Status SetLibrary(std::string_view value, FleetOptions& options) {
  std::error_code error;
  options.library = std::filesystem::absolute(value, error).lexically_normal().string();
  return error ? BadFleet(StrCat("--duckdb: ", value, ": ", error.message())) : absl::OkStatus();
}

absl::Status KeepText(std::string_view value, std::string& text) {
  text = value;
  return absl::OkStatus();
}

absl::Status SetFleetOption(std::string_view name, std::string_view value, FleetOptions& options) {
  constexpr int64_t kMostRows = 1'000'000;
  constexpr int64_t kWidest = 10'000;
  if (name == "--data") return SetData(value, options);
  if (name == "--service") return KeepText(value, options.filter.service);
  if (name == "--day") return KeepText(value, options.filter.day);
  if (name == "--host") return KeepText(value, options.filter.host);
  if (name == "--of") return KeepText(value, options.params.routine);
  if (name == "--duckdb") return SetLibrary(value, options);
  if (name == "--before") return SetSide(name, value, options, options.params.before);
  if (name == "--after") return SetSide(name, value, options, options.params.after);
  if (name == "--top") return SetNumber(name, value, kMostRows, options.params.top);
  if (name == "--width") {
    int64_t width = 0;
    absl::Status status = SetNumber(name, value, kWidest, width);
    options.width = static_cast<int>(width);
    return status;
  }
  if (name == "--filter") {
    double& percent = options.params.percent;
    const bool is_percent = ParseDouble(value, percent) && percent >= 0 && percent <= 100;
    if (is_percent) return absl::OkStatus();
    return BadFleet(StrCat("--filter: '", value, "' is not a percentage from 0 to 100"));
  }
  if (name == "--format") {
    options.as_csv = value == "csv";
    if (options.as_csv || value == "text") return absl::OkStatus();
    return BadFleet(StrCat("--format: '", value, "' is not text or csv"));
  }
  constexpr std::string_view kNames[] = {"--data",   "--service", "--day",   "--host", "--of",
                                         "--duckdb", "--before",  "--after", "--top",  "--width",
                                         "--filter", "--format",  "--sql"};
  return BadFleet(StrCat("unknown option '", name, "'; nearest: ", Nearest(name, kNames),
                         " (see jtrace fleet --help)"));
}

// What the query lacks.
absl::Status CheckComplete(const FleetOptions& options) {
  if (options.query == "trace" && (options.as_csv || options.only_sql)) {
    return BadFleet("fleet trace writes a trace: leave out --format and --sql");
  }
  if (options.data.empty()) {
    return BadFleet(StrCat("fleet ", options.query, " needs a folder of tables: --data=DIR"));
  }
  if (options.query == "callers" && options.params.routine.empty()) {
    return BadFleet("fleet callers needs a routine or class, e.g. --of=org.h2.Driver.connect");
  }
  if (options.query == "diff" && (options.params.before.empty() || options.params.after.empty())) {
    return BadFleet(
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
  for (const std::string_view argument : rest) {
    if (argument == "--sql") {
      options.only_sql = true;
      continue;
    }
    const size_t equals = argument.find('=');
    if (equals == std::string_view::npos || equals + 1 == argument.size()) {
      return BadFleet(StrCat("'", argument, "' is not an option with a value, such as --data=DIR"));
    }
    const absl::Status status =
        SetFleetOption(argument.substr(0, equals), argument.substr(equals + 1), options);
    if (!status.ok()) return status;
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
  help +=
      "\noptions\n"
      "  --data=DIR           the folder of the tables\n"
      "  --service=NAME       only runs of that service; --day=YYYY-MM-DD, --host=NAME alike\n"
      "  --top=N              rows of top, arcs, diff; routines that hosts looks at (default 20)\n"
      "  --filter=PERCENT     tree: paths with that share of the whole (default 0.5)\n"
      "  --of=ROUTINE         callers: a method with or without parameters, or a class\n"
      "  --before=, --after=  diff: version=V or day=YYYY-MM-DD\n"
      "  --format=text|csv    the form of the answer (default text)\n"
      "  --width=N            columns of text (default: the terminal's, else 120)\n"
      "  --sql                print the query and its views in DuckDB's SQL, and run nothing\n"
      "  --duckdb=PATH        libduckdb.so (default: that of jtrace's lib folder)\n\n"
      "The queries run on DuckDB in this process. scripts/fleet.sh gets its library, and so does\n"
      "npm pack @duckdb/node-bindings-linux-x64.\n\n"
      "exit codes: 0 done · 1 wrong usage · 2 DuckDB or the tables cannot be read, or check found\n"
      "tables that do not agree\n";
  return help;
}

}  // namespace jtrace::control
