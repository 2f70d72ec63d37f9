// The rules of findings, each in the file of its name, and what they find in a trace.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "postproc/findings/facts.h"

namespace jtrace::postproc {

// What a finding's share is a share of.
enum class ShareOf : uint8_t { kTime, kCalls, kRealTime };
// "time", "calls", "real time"
std::string_view ShareOfName(ShareOf of);

struct Finding {
  double share = 0;  // percent
  ShareOf of = ShareOf::kTime;
  std::string sentence;
  std::string evidence;    // the figures
  std::string suggestion;  // what may help
  // Options of jtrace-post that show more: names in them are not quoted for a shell.
  std::vector<std::string> next;
};

// One kind of finding. A rule is data and a function of what a trace has; it does no I/O.
struct Rule {
  std::string_view name;
  std::string_view what;   // what it finds
  std::string_view needs;  // the option that records what it needs
  bool (*has_data)(const Facts& facts);
  // Appends what it finds, in any order; called only if it has data.
  void (*find)(const Facts& facts, std::vector<Finding>& findings);
};

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
