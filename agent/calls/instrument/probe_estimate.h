// What it costs to put probes into classes that are loaded already, shown before it is done and
// while it is. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace jtrace::calls {

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

}  // namespace jtrace::calls
