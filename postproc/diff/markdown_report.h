// --report=markdown: the comparison of two traces for a comment in a pull request.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "postproc/diff/profile_diff.h"

namespace jtrace::postproc {

// Broken rules (--fail-on) first, then totals, then the routines that changed, as many as --top
// says (20 by default), and how many more there are.
void DiffMarkdown(const ProfileDiff& diff, const ReportInput& after,
                  absl::Span<const std::string> broken, std::ostream& out);

// `text` as code, whatever characters it has.
enum class Within { kText, kTable };
std::string MarkdownCode(std::string_view text, Within within);

}  // namespace jtrace::postproc
