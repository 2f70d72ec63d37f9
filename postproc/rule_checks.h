// Which rules of --fail-on a trace, or a comparison of two, breaks.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "postproc/analysis.h"
#include "postproc/diff/profile_diff.h"
#include "postproc/input/command_line.h"

namespace jtrace::postproc {

// Lines for stderr; empty: the rules hold. An error if one of them cannot be checked, or if parts
// of a trace are missing: a gate that checks nothing must not pass.
absl::StatusOr<std::vector<std::string>> BrokenRules(const CommandLine& line, Analysis& analysis);
absl::StatusOr<std::vector<std::string>> BrokenRules(const CommandLine& line, Analysis& before,
                                                     Analysis& after, const ProfileDiff& diff);

}  // namespace jtrace::postproc
