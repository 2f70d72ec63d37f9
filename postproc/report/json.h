// A report's table as JSON: one object a report, integers unrounded in the trace's unit.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "postproc/report/table.h"

namespace jtrace::postproc {

// `text` as a JSON string, quotes included. What is not UTF-8 becomes U+FFFD.
std::string JsonString(std::string_view text);
// `text` with U+FFFD for what is not UTF-8.
std::string Utf8(std::string_view text);

// {"report":…,"time_unit":…,"tick_ns":…,"rows":[{column: value, …}, …]}, a line a row; several
// reports follow each other as JSON values in a stream (jq and the like read them so). Empty cells
// are null, tick_ns is 0 where it is not known.
void WriteJson(std::string_view report, const Table& table, const Units& units, std::ostream& out);

}  // namespace jtrace::postproc
