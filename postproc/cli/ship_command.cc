#include "postproc/cli/ship_command.h"

#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/visible_text.h"
#include "postproc/cli/own_files.h"
#include "postproc/cli/ship_options.h"
#include "postproc/ship/converter.h"
#include "postproc/ship/curl_library.h"
#include "postproc/ship/parquet_target.h"
#include "postproc/ship/shipper.h"
#include "postproc/ship/stop_signal.h"
#include "postproc/support/error_kind.h"
#include "postproc/support/exit_codes.h"
#include "postproc/support/strings.h"
#include "proto/control_protocol.h"

namespace jtrace::control {
namespace {

using postproc::StrCat;
using Targets = std::vector<std::unique_ptr<ship::Target>>;

absl::StatusOr<Targets> MakeTargets(const ShipOptions& options) {
  setenv(postproc::kRunByShip, "1", 1);
  const ship::Converter converter = {.post_processor = OwnPostProcessor(),
                                     .labels = options.labels};
  Targets targets;
  for (const std::string& folder : options.tables) {
    targets.push_back(std::make_unique<ship::ParquetTarget>(folder, converter));
  }
  if (options.servers.empty()) return targets;
  const absl::StatusOr<ship::Curl> curl = ship::LoadCurl(options.curl, OwnLibraryFolder());
  if (!curl.ok()) return curl.status();
  for (ship::HttpSettings server : options.servers) {
    server.folder = options.policy.folder;
    targets.push_back(std::make_unique<ship::HttpTarget>(std::move(server), converter, *curl));
  }
  return targets;
}

std::string NamesOf(const Targets& targets) {
  std::vector<std::string_view> names;
  for (const auto& target : targets) names.push_back(target->name());
  return postproc::Join(names, ", ");
}

void SayEnd(const ship::ShipMetrics& metrics, std::ostream& out) {
  out << "jtrace: shipped " << metrics.shipped << ", set aside " << metrics.failed << ", dropped "
      << metrics.dropped << ", waiting " << metrics.waiting << std::endl;
}

absl::StatusOr<int> Ship(const ShipOptions& options, std::ostream& out,
                         const ship::Shipper::Say& say) {
  absl::StatusOr<Targets> targets = MakeTargets(options);
  if (!targets.ok()) return targets.status();
  const std::string names = NamesOf(*targets);
  (void)nice(options.niceness);  // without the right to it, it stays as it was
  ship::StopSignal stop;
  ship::Shipper shipper(options.policy, *std::move(targets), stop, say);
  if (absl::Status status = shipper.Open(); !status.ok()) return status;
  out << VisibleText(StrCat("jtrace: ships ", options.policy.folder, " to ", names)) << std::endl;
  bool is_done = true;
  if (options.once) {
    is_done = shipper.RunOnce();
  } else {
    shipper.Run();
  }
  SayEnd(shipper.metrics(), out);
  return is_done ? kExitDone : kExitFailed;
}

}  // namespace

int RunShip(const CommandLine& line, std::ostream& out, std::ostream& err) {
  const auto say = [&](std::string_view text) {
    err << "jtrace: " << VisibleText(std::string(text)) << std::endl;
  };
  const absl::StatusOr<ShipOptions> options = ReadShipOptions(line.target, line.rest);
  const absl::StatusOr<int> code =
      options.ok() ? Ship(*options, out, say) : absl::StatusOr<int>(options.status());
  if (code.ok()) return *code;
  say(std::string(code.status().message()));
  return options.ok() ? kExitFailed : kExitUsage;
}

}  // namespace jtrace::control
