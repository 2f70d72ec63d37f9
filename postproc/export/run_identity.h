// Which run a profile is of, for tools that collect profiles of many runs.
#pragma once

#include <boost/uuid/uuid.hpp>
#include <cstdint>
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

// What Pyroscope's /ingest wants to know of a pprof profile:
// "name=shop%7Bhost%3Dweb-1%7D&from=1767225600&until=1767225660&format=pprof&spyName=jtrace".
std::string IngestQuery(const ReportInput& input, int64_t start_ns, int64_t duration_ns);

// Begins the line of stderr that has a profile's id and this query; for `jtrace ship` only.
inline constexpr std::string_view kProfileNote = "profile ";

}  // namespace jtrace::postproc
