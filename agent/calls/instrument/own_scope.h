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

// What probes of all loaded classes may cost before it is worth a choice, and what those of the
// choice may cost.
inline constexpr absl::Duration kCostOfOwnScope = absl::Milliseconds(1500);

// The packages on one stack of a thread that ran, each once: "com.acme.shop".
using PackagesOfStack = std::vector<std::string>;

// "com.acme.shop" of "com.acme.shop.Cart"; "" for a class without a package.
std::string_view PackageOf(std::string_view class_name);

struct OwnScope {
  std::vector<std::string> patterns;  // of include=, the most important first
  ProbeWork work;
};

// Chooses packages of `classes`: that of `main_class` ("": not known), then those on most of
// `stacks`, and those on none only if the main class's is not among them. Well-known libraries are
// left out, unless the main class is of one that does not start other programs, or there is nothing
// else. A package that is too costly is divided. No pattern if no class has a package.
OwnScope ChooseOwnScope(std::span<const ClassToProbe> classes, std::string_view main_class,
                        std::span<const PackagesOfStack> stacks);

}  // namespace jtrace::calls
