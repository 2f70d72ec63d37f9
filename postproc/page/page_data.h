// A page's data as JSON: columns of the call tree, the flat list, threads, facts, losses, the
// timeline. postproc/web/src/data.ts reads it and documents each member.
#pragma once

#include <cstddef>
#include <string>

#include "postproc/page/page_tree.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

// Increased whenever a member changes its meaning.
inline constexpr int kPageDataFormat = 1;

std::string PageData(const ReportInput& input, size_t max_nodes = kMaxPageNodes);

}  // namespace jtrace::postproc
