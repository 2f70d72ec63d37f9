// A report's table as JSON: one object for each report, integers unrounded in the trace's unit.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "postproc/report/table.h"

namespace jtrace::postproc {

// {"report":…,"time_unit":…,"tick_ns":…,"rows":[{column: value, …}, …]}, a line for each row;
// several reports are a stream of JSON values (as jq and similar tools read them). Empty cells are
// null, tick_ns is 0 if it is not known.
void WriteJson(std::string_view report, const Table& table, const Units& units, std::ostream& out);

}  // namespace jtrace::postproc
