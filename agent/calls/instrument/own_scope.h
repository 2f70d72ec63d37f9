// What `include=own` stands for: the packages that are the program's own. A server of 100,000
// methods, most of them its libraries', would be slow for minutes if all got probes while it runs.
// Pure.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"

namespace jtrace::calls {

// What it costs to put probes into classes that are loaded already, shown before it is done and
// while it is. Pure.

// A loaded class in scope.
struct ClassToProbe {
  std::string name;    // "com.acme.Cache"
  size_t methods = 0;  // with those that have no code; 0: unknown
};

// A part of a work, in classes and methods.
struct ProbeWork {
  size_t classes = 0;
  size_t methods = 0;
};

// The processor time of rewriting the classes and giving them to the JVM, before any was.
absl::Duration EstimatedCost(const ProbeWork& work);
// The same for `work`, once `done` took `cost`.
absl::Duration MeasuredCost(const ProbeWork& work, const ProbeWork& done, absl::Duration cost);

// Of the next classes: as MeasuredCost, but not further from the estimate than a factor of four. A
// first batch of unusual classes says little of others.
absl::Duration ExpectedCost(const ProbeWork& work, const ProbeWork& done, absl::Duration cost);
// How much a batch should cost under a ProcessorBudget: its share of five seconds, but no more than
// a second's work, so that a stop in between does not wait long.
absl::Duration CostOfABatch(int percent);

ProbeWork AllOf(std::span<const ClassToProbe> classes);

// A pattern of include= with a part of the classes.
struct NarrowerScope {
  std::string pattern;  // "com.acme.**"
  ProbeWork work;
};

// The packages that share out the classes: those right below the innermost package that has nearly
// all of them. The three with the most methods, the largest first; none if no package has less than
// nearly all.
std::vector<NarrowerScope> NarrowerScopes(std::span<const ClassToProbe> classes);

// "12 s", "0.3 s": a rough cost, for people.
std::string RoughSeconds(absl::Duration cost);

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
