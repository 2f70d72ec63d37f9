#include "postproc/cli/start_options.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "postproc/support/strings.h"

namespace jtrace::control {
namespace {

using postproc::StrCat;

// Options of the agent that only probes obey: a recording of samples would ignore them.
constexpr std::array<std::string_view, 13> kOfProbes = {
    "record=",   "clock=",  "logbudget=", "overflow=", "probebudget=", "prune=",    "pruneexit=",
    "maxdepth=", "blocks=", "sites=",     "unwind=",   "boundary=",    "compilers="};

// The options one by one: an argument may have several, as the agent's do.
std::vector<std::string_view> Options(const CommandLine& line) {
  std::vector<std::string_view> options;
  for (const std::string& argument : line.rest) {
    std::string_view rest = argument;
    while (!rest.empty()) {
      const size_t comma = rest.find(',');
      options.push_back(rest.substr(0, comma));
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
  }
  return options;
}

}  // namespace

absl::Status CheckStart(const CommandLine& line) {
  const std::vector<std::string_view> options = Options(line);
  const auto begins = [&](std::string_view name) {
    return std::any_of(options.begin(), options.end(),
                       [name](std::string_view option) { return option.starts_with(name); });
  };
  const bool wants_samples =
      std::find(options.begin(), options.end(), "mode=samples") != options.end();
  if (line.probes && wants_samples) {
    return absl::InvalidArgumentError(
        StrCat(line.all ? "--all" : "--probes", " and mode=samples contradict; use one of them"));
  }
  if (line.all && begins("include=")) {
    return absl::InvalidArgumentError("--all and include= contradict; use one of them");
  }
  if (line.probes || begins("mode=") || begins("config=")) return absl::OkStatus();
  for (const std::string_view name : kOfProbes) {
    if (!begins(name)) continue;
    return absl::InvalidArgumentError(
        StrCat(name, " needs probes, and start records samples only; add --probes"));
  }
  return absl::OkStatus();
}

// A later mode= or include=, perhaps in a file of config=, replaces this one. Samples have no use
// for include=own.
std::string StartOptions(const CommandLine& line) {
  const std::string options = AgentOptions(line);
  return StrCat(line.probes ? "mode=merged" : "mode=samples", line.all ? "" : ",include=own",
                options.empty() ? "" : ",", options);
}

std::string StartHelpText() {
  return "jtrace start JVM [--probes|--all] [-d TIME] [--lib=PATH] [OPTION=VALUE …]: begins a\n"
         "recording in a JVM that runs\n\n"
         "By default it records samples: no class changes, and the program keeps its speed.\n"
         "  jtrace start 4711\n"
         "  jtrace start 4711 out=/tmp/a.bin interval=10ms timer=wall\n\n"
         "With --probes (mode=merged; or mode=events, without samples) it counts calls, too. In a "
         "program of\n"
         "more than some 15,000 methods it looks at the stacks for a second, and counts the "
         "calls "
         "of the\n"
         "program's own packages. It says which these are, and what --all, every package, would "
         "cost. Each\n"
         "loaded class in scope is then changed while the program runs: the first time in an "
         "attached "
         "JVM\n"
         "all at once, later in batches, at 20 % of one processor at most; the cost is shown "
         "before. "
         "Calls\n"
         "of a class count from its batch on. Other commands, stop too, work meanwhile. A JVM "
         "started "
         "with\n"
         "-agentpath:…=serve,probes=resting has its probes from the start, and counts at once.\n"
         "  jtrace start 4711 --probes\n"
         "  jtrace start 4711 --probes include=com.acme.**\n"
         "  jtrace start 4711 --all\n"
         "  jtrace start 4711 --probes probebudget=10%       in batches\n"
         "  jtrace start 4711 -d 30 mode=events clock=tsc    exact times, no samples\n\n"
         "OPTION is one of the agent's: java -agentpath:…/libjtrace.so=help lists them.\n";
}

}  // namespace jtrace::control
