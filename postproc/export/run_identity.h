// Which run a profile is of, for tools that collect profiles of many runs.
#pragma once

#include <boost/uuid/uuid.hpp>
#include <string>
#include <string_view>

#include "postproc/report/report.h"

namespace jtrace::postproc {

// What --label says, else what the trace says; empty: neither does. Of a run without
// --label=service it is the name of the program.
std::string LabelOf(const ReportInput& input, std::string_view key);

// A name-based UUID (RFC 9562, version 5) of the traces' hosts, processes and starts, and of what
// is measured: the same however often the traces are converted. Of a trace that lacks these, of its
// file's name.
boost::uuids::uuid ProfileId(const ReportInput& input, std::string_view measure);

}  // namespace jtrace::postproc
