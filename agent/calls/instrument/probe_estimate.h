// Estimates what it costs to put probes into loaded classes: for users, before and during the work,
// and for the size of its batches. Pure.
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

// An amount of work: the classes and methods that get probes.
struct ProbeWork {
  size_t classes = 0;
  size_t methods = 0;
};

// Estimates the processor time to rewrite and retransform the classes, before any was.
absl::Duration EstimatedCost(const ProbeWork& work);
// Estimates the same for `work` after `done` has taken `cost`.
absl::Duration ExtrapolatedCost(const ProbeWork& work, const ProbeWork& done, absl::Duration cost);

// The cost of the next classes: ExtrapolatedCost, within a factor of four of EstimatedCost, because
// a first batch of unusual classes says little about others.
absl::Duration BoundedCost(const ProbeWork& work, const ProbeWork& done, absl::Duration cost);
// How much a batch should cost under a CpuBudget: its share of five seconds, but no more than
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
