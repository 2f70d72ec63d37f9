// The merged tree of many runs as a text trace, which jtrace-post reads like any other: the page,
// pprof and all reports.
#pragma once

#include <ostream>

#include "postproc/duckdb/session.h"

namespace jtrace::control {

// The answers of the queries `merged_nodes` and `merged_samples`. Routines of one name are one.
void WriteMergedTrace(const postproc::duckdb::Answer& nodes,
                      const postproc::duckdb::Answer& samples, std::ostream& out);

}  // namespace jtrace::control
