// --report=diff,html: the comparison of two traces as a page.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>

#include "absl/types/span.h"
#include "postproc/diff/profile_diff.h"
#include "postproc/page/page_tree.h"

namespace jtrace::postproc {

// The page's data as JSON; postproc/web/src/diff/data.ts reads it and documents each member.
// `broken`: rules of --fail-on.
std::string DiffPageData(const ProfileDiff& diff, const ReportInput& before,
                         const ReportInput& after, absl::Span<const std::string> broken,
                         size_t max_nodes = kMaxPageNodes);

void DiffPage(const ProfileDiff& diff, const ReportInput& before, const ReportInput& after,
              absl::Span<const std::string> broken, std::ostream& out);

}  // namespace jtrace::postproc
