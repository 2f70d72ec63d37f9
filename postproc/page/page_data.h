// A page's data as JSON: columns of the call tree, the flat list, threads, facts, losses, the
// timeline. postproc/web/src/data.ts reads it and documents each member.
#pragma once

#include <cstddef>
#include <string>

#include "common/json_writer.h"
#include "postproc/page/page_tree.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

// Increased whenever a member changes its meaning.
inline constexpr int kPageDataFormat = 1;

// What the page is about: the first trace's command, else its file.
std::string PageTitle(const TraceModel& model);
// The member "traces": their files and what they say about themselves.
void WritePageTraces(const TraceModel& model, JsonWriter& json);

std::string PageData(const ReportInput& input, size_t max_nodes = kMaxPageNodes);

}  // namespace jtrace::postproc
