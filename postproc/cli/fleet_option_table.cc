#include "postproc/cli/fleet_option_table.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "common/nearest.h"
#include "postproc/support/strings.h"

namespace jtrace::control {
namespace {

using postproc::ParseDouble;
using postproc::ParseInteger;
using postproc::StrCat;

absl::Status BadFleet(const std::string& message) { return absl::InvalidArgumentError(message); }

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

absl::Status SetNumber(std::string_view option, std::string_view value, int64_t most,
                       int64_t& number) {
  if (ParseInteger(value, number) && number >= 1 && number <= most) return absl::OkStatus();
  return BadFleet(StrCat(option, ": '", value, "' is not a number from 1 to ", most));
}

absl::Status SetFilter(std::string_view value, FleetOptions& options) {
  double& percent = options.params.percent;
  const bool is_percent = ParseDouble(value, percent) && percent >= 0 && percent <= 100;
  if (is_percent) return absl::OkStatus();
  return BadFleet(StrCat("--filter: '", value, "' is not a percentage from 0 to 100"));
}

absl::Status SetFormat(std::string_view value, FleetOptions& options) {
  options.as_csv = value == "csv";
  if (options.as_csv || value == "text") return absl::OkStatus();
  return BadFleet(StrCat("--format: '", value, "' is not text or csv"));
}

absl::Status SetWidth(std::string_view value, FleetOptions& options) {
  constexpr int64_t kWidest = 10'000;
  int64_t width = 0;
  absl::Status status = SetNumber("--width", value, kWidest, width);
  options.width = static_cast<int>(width);
  return status;
}

absl::Status SetPath(std::string_view option, std::string_view value, std::string& path) {
  std::error_code error;
  path = std::filesystem::absolute(value, error).lexically_normal().string();
  return error ? BadFleet(StrCat(option, ": ", value, ": ", error.message())) : absl::OkStatus();
}

absl::Status SetEngine(std::string_view value, FleetOptions& options) {
  options.engine = value == "duckdb" ? "" : value;
  if (options.engine.empty() || value == "local" || value == "yarn") return absl::OkStatus();
  for (const std::string_view begin : {"spark://", "local[", "local-cluster[", "k8s://"}) {
    if (value.starts_with(begin)) return absl::OkStatus();
  }
  return BadFleet(StrCat("--engine: '", value,
                         "' is neither duckdb nor a master of Spark, such as spark://HOST:7077 or "
                         "local[4]"));
}

absl::Status KeepText(std::string_view value, std::string& text) {
  text = value;
  return absl::OkStatus();
}

constexpr int64_t kMostRows = 1'000'000;

// In the order of the help.
constexpr FleetOption kOptions[] = {
    {"--data", "DIR", "the folder of the tables", SetData},
    {"--service", "NAME", "only runs of that service",
     [](std::string_view value, FleetOptions& options) {
       return KeepText(value, options.filter.service);
     }},
    {"--day", "YYYY-MM-DD", "only runs of that day",
     [](std::string_view value, FleetOptions& options) {
       return KeepText(value, options.filter.day);
     }},
    {"--host", "NAME", "only runs of that host",
     [](std::string_view value, FleetOptions& options) {
       return KeepText(value, options.filter.host);
     }},
    {"--top", "N", "rows of top, arcs, diff; routines that hosts looks at (default 20)",
     [](std::string_view value, FleetOptions& options) {
       return SetNumber("--top", value, kMostRows, options.params.top);
     }},
    {"--filter", "PERCENT", "tree: paths with that share of the whole (default 0.5)", SetFilter},
    {"--of", "ROUTINE", "callers: a method with or without parameters, or a class",
     [](std::string_view value, FleetOptions& options) {
       return KeepText(value, options.params.routine);
     }},
    {"--before", "SIDE", "diff: version=V or day=YYYY-MM-DD",
     [](std::string_view value, FleetOptions& options) {
       return SetSide("--before", value, options, options.params.before);
     }},
    {"--after", "SIDE", "diff: what to compare with it",
     [](std::string_view value, FleetOptions& options) {
       return SetSide("--after", value, options, options.params.after);
     }},
    {"--format", "text|csv", "the form of the answer (default text)", SetFormat},
    {"--width", "N", "columns of text (default: the terminal's, else 120)", SetWidth},
    {"--sql", "", "print the query and its views in the engine's SQL, and run nothing",
     [](std::string_view, FleetOptions& options) {
       options.only_sql = true;
       return absl::OkStatus();
     }},
    {"--duckdb", "PATH", "libduckdb.so (default: that of jtrace's lib folder)",
     [](std::string_view value, FleetOptions& options) {
       return SetPath("--duckdb", value, options.library);
     }},
    {"--engine", "ENGINE", "duckdb (default), or a master of Spark: spark://HOST:PORT, local[N], …",
     SetEngine},
    {"--spark", "DIR", "Spark's folder (default: SPARK_HOME)",
     [](std::string_view value, FleetOptions& options) {
       return SetPath("--spark", value, options.spark);
     }},
};

}  // namespace

absl::Span<const FleetOption> AllFleetOptions() { return kOptions; }

absl::Status SetFleetOption(std::string_view argument, FleetOptions& options) {
  const size_t equals = argument.find('=');
  const std::string_view name = argument.substr(0, equals);
  const bool has_value = equals != std::string_view::npos && equals + 1 < argument.size();
  std::vector<std::string_view> names;
  for (const FleetOption& option : kOptions) {
    names.push_back(option.name);
    if (option.name != name) continue;
    if (option.value.empty() && equals == std::string_view::npos) return option.set("", options);
    if (!option.value.empty() && has_value) return option.set(argument.substr(equals + 1), options);
    return BadFleet(option.value.empty()
                        ? StrCat(name, " takes no value")
                        : StrCat(name, " needs a value: ", name, "=", option.value));
  }
  if (!name.starts_with("--")) {
    return BadFleet(StrCat("'", argument, "' is not an option with a value, such as --data=DIR"));
  }
  return BadFleet(StrCat("unknown option '", name, "'; nearest: ", Nearest(name, names),
                         " (see jtrace fleet --help)"));
}

}  // namespace jtrace::control
