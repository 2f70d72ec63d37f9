// What `include=own` stands for: the packages that are the program's own. A server of 100,000
// methods, most of them its libraries', would be slow for minutes if all got probes while it runs.
// Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "agent/calls/instrument/probe_estimate.h"

namespace jtrace::calls {

// The cost up to which all loaded classes get probes, and the limit for the probes of the packages
// that are chosen otherwise.
inline constexpr absl::Duration kCostOfProgramScope = absl::Milliseconds(1500);

// The packages on one stack of a thread that ran, each once: "com.acme.shop".
using PackagesOfStack = std::vector<std::string>;

// "com.acme.shop" of "com.acme.shop.Cart"; "" for a class without a package.
std::string_view PackageOf(std::string_view class_name);

struct ProgramScope {
  std::vector<std::string> patterns;  // of include=, the most important first
  ProbeWork work;
};

// Chooses packages of `classes`: first that of `main_class` ("": not known), then those on most of
// `stacks`. Packages on no stack are chosen only if the main class's package is not among
// `classes`. Well-known libraries are left out, unless nothing else is left or the main class is in
// one that is not a launcher. A package that is too costly is divided. Returns no pattern if no
// class has a package.
ProgramScope ChooseProgramScope(std::span<const ClassToProbe> classes, std::string_view main_class,
                                std::span<const PackagesOfStack> stacks);

}  // namespace jtrace::calls
