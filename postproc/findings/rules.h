// The rules of findings, each in the file of its name, and what they find in a trace.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "postproc/findings/finding.h"

namespace jtrace::postproc {

extern const Rule kCostlySetup;
extern const Rule kExceptions;
extern const Rule kMonitors;
extern const Rule kClassLoading;
extern const Rule kBoxing;
extern const Rule kNotInlined;
extern const Rule kDiscardedCode;

absl::Span<const Rule* const> AllRules();

struct Found {
  const Rule* rule = nullptr;
  Finding finding;
};
struct Findings {
  std::vector<Found> found;               // the greatest share first
  std::vector<const Rule*> not_recorded;  // rules without the data that they need
};
Findings FindAll(const ReportInput& input);

}  // namespace jtrace::postproc
