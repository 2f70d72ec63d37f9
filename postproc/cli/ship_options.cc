#include "postproc/cli/ship_options.h"

#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "common/nearest.h"
#include "postproc/fleet/labels.h"
#include "postproc/ship/kept_files.h"
#include "postproc/ship/url.h"
#include "postproc/support/exit_codes.h"
#include "postproc/support/strings.h"

namespace jtrace::control {
namespace {

using postproc::StrCat;

absl::Status BadShip(const std::string& message) { return absl::InvalidArgumentError(message); }

absl::Status SetAbsolute(std::string_view option, std::string_view value, std::string& path) {
  std::error_code error;
  path = std::filesystem::absolute(value, error).lexically_normal().string();
  if (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return error ? BadShip(StrCat(option, ": ", value, ": ", error.message())) : absl::OkStatus();
}

absl::Status AddServer(std::string_view target, std::string_view url, ShipOptions& options) {
  const bool is_otlp = target.starts_with("otlp:");
  const absl::StatusOr<std::string> whole =
      ship::UrlWithPath(url, is_otlp ? "/v1development/profiles" : "/ingest");
  if (!whole.ok()) return BadShip(StrCat("--to: ", std::string(whole.status().message())));
  options.servers.push_back(
      {.format = is_otlp ? ship::ProfileFormat::kOtlp : ship::ProfileFormat::kPprof,
       .url = *whole,
       .header_file = {},
       .folder = {}});
  return absl::OkStatus();
}

absl::Status AddTarget(std::string_view value, ShipOptions& options) {
  std::string_view place = value;
  if (postproc::ConsumePrefix(place, "parquet:") && !place.empty()) {
    return SetAbsolute("--to", place, options.tables.emplace_back());
  }
  place = value;
  if (postproc::ConsumePrefix(place, "otlp:") || postproc::ConsumePrefix(place, "pprof:")) {
    return AddServer(value, place, options);
  }
  return BadShip(StrCat("--to: '", value,
                        "' is not parquet:FOLDER, otlp:URL or pprof:URL, such as ",
                        "otlp:http://localhost:4318"));
}

absl::Status AddShipLabel(std::string_view value, ShipOptions& options) {
  postproc::fleet::Labels unused;
  if (absl::Status status = postproc::fleet::SetLabel(value, unused); !status.ok()) return status;
  options.labels.emplace_back(value);
  return absl::OkStatus();
}

absl::Status SetTime(std::string_view option, std::string_view value, absl::Duration least,
                     absl::Duration& time) {
  const std::optional<absl::Duration> given = ship::ParseTime(value);
  if (!given.has_value() || *given < least || *given > absl::Hours(1)) {
    return BadShip(StrCat(option, ": '", value, "' is not a time from ",
                          absl::FormatDuration(least), " to 1h, such as 5s or 1m"));
  }
  time = *given;
  return absl::OkStatus();
}

absl::Status SetSpool(std::string_view value, ShipOptions& options) {
  ship::Keep keep = {.longest = absl::InfiniteDuration()};
  if (absl::Status status = ship::SetKeep("--spool", value, keep); !status.ok()) return status;
  if (keep.longest != absl::InfiniteDuration() || keep.most_bytes == 0) {
    return BadShip(StrCat("--spool: '", value, "' is not a size, such as 500MB or 1GB"));
  }
  options.policy.most_waiting_bytes = keep.most_bytes;
  return absl::OkStatus();
}

absl::Status SetNiceness(std::string_view value, ShipOptions& options) {
  int64_t niceness = 0;
  if (!postproc::ParseInteger(value, niceness) || niceness < 0 || niceness > 19) {
    return BadShip(StrCat("--niceness: '", value, "' is not a number from 0 to 19"));
  }
  options.niceness = static_cast<int>(niceness);
  return absl::OkStatus();
}

// For all servers; they are known when everything is read.
struct OfServers {
  std::string header_file;
  absl::Duration timeout = absl::Seconds(30);
};

absl::Status SetShipOption(std::string_view name, std::string_view value, ShipOptions& options,
                           OfServers& servers) {
  constexpr absl::Duration kLeastInterval = absl::Milliseconds(10);
  if (name == "--to") return AddTarget(value, options);
  if (name == "--label") return AddShipLabel(value, options);
  if (name == "--interval") return SetTime(name, value, kLeastInterval, options.policy.interval);
  if (name == "--timeout") return SetTime(name, value, absl::Seconds(1), servers.timeout);
  if (name == "--retain") return ship::SetKeep(name, value, options.policy.shipped);
  if (name == "--spool") return SetSpool(value, options);
  if (name == "--niceness") return SetNiceness(value, options);
  if (name == "--metrics-file") return SetAbsolute(name, value, options.policy.metrics_file);
  if (name == "--header-file") return SetAbsolute(name, value, servers.header_file);
  if (name == "--curl") return SetAbsolute(name, value, options.curl);
  constexpr std::string_view kNames[] = {"--to",          "--label", "--interval", "--timeout",
                                         "--retain",      "--spool", "--niceness", "--metrics-file",
                                         "--header-file", "--curl",  "--once"};
  return BadShip(StrCat("unknown option '", name, "'; nearest: ", Nearest(name, kNames),
                        " (see jtrace ship --help)"));
}

absl::Status SetFolder(const std::string& folder, ShipOptions& options) {
  std::error_code error;
  const std::filesystem::path found = std::filesystem::canonical(folder, error);
  if (error || !std::filesystem::is_directory(found, error)) {
    return BadShip(StrCat("there is no folder ", folder, "; name the one of the traces, such as ",
                          "/var/traces for out=/var/traces/%p.bin"));
  }
  options.policy.folder = found.string();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ShipOptions> ReadShipOptions(const std::string& folder,
                                            const std::vector<std::string>& rest) {
  ShipOptions options;
  OfServers of_servers;
  if (absl::Status status = SetFolder(folder, options); !status.ok()) return status;
  for (const std::string_view argument : rest) {
    if (argument == "--once") {
      options.once = true;
      continue;
    }
    const size_t equals = argument.find('=');
    if (equals == std::string_view::npos || equals + 1 == argument.size()) {
      return BadShip(
          StrCat("'", argument, "' is not an option with a value, such as --to=parquet:data"));
    }
    const absl::Status status =
        SetShipOption(argument.substr(0, equals), argument.substr(equals + 1), options, of_servers);
    if (!status.ok()) return status;
  }
  if (options.tables.empty() && options.servers.empty()) {
    return BadShip("ship needs a target, e.g. jtrace ship /var/traces --to=parquet:data");
  }
  for (ship::HttpSettings& server : options.servers) {
    server.header_file = of_servers.header_file;
    server.longest = of_servers.timeout;
  }
  return options;
}

std::string ShipHelpText() {
  return std::string() +
         R"(jtrace ship: turns the traces that JVMs leave in a folder into tables, or sends them to servers

usage: jtrace ship DIR --to=TARGET [--to=TARGET …] [OPTION …]

A trace is shipped when its JVM no longer writes it: with loop=1m a minute after it began. A trace
that all targets have moves to DIR/shipped; one that a target refuses, or that cannot be read, moves
to DIR/failed when the others have it, with the reasons beside it. What a target does not take now
waits in DIR.

  jtrace ship /var/traces --to=parquet:/var/tables      tables for jtrace fleet, until SIGTERM
  jtrace ship /var/traces --to=parquet:/var/tables --once     what is there now, from cron
  jtrace ship /var/traces --to=otlp:http://localhost:4318 --to=pprof:http://pyroscope:4040
                                                        an OpenTelemetry collector, and Pyroscope

options
  --to=parquet:FOLDER     tables (jtrace-post --report=parquet), a file of each for each trace
  --to=otlp:URL           OTLP profiles over HTTP; the path is /v1development/profiles if there is none
  --to=pprof:URL          pprof as Pyroscope's /ingest takes it, which is the path if there is none
  --label=KEY=VALUE       service, version, host or container of the traces; may be repeated
  --once                  ship what is there, and end; a target that fails five times gets no more
  --interval=1s           how often the folder is looked at
  --retain=1d             how long DIR/shipped keeps traces, and --retain=1GB how much (1d and 1GB);
                          0: they are deleted
  --spool=4GB             what may wait for targets that fail, and what DIR/failed keeps: beyond that
                          the oldest traces are deleted
  --metrics-file=FILE     the shipper's own metrics for Prometheus, for node_exporter's textfile collector
  --header-file=FILE      headers for servers, a line each, such as Authorization: Bearer …
  --timeout=30s           the longest that a server may take
  --niceness=10           of the shipper and its conversions
  --curl=PATH             libcurl.so.4 (default: that of jtrace's lib folder, else of the system)

There is one shipper for a folder. It may be killed at any time: the next one goes on, and what is
done again replaces its tables, or has the same profile id.

)" + postproc::ExitCodesHelp(postproc::Program::kShip);
}

}  // namespace jtrace::control
