// The answers of `jtrace fleet`, as tables for people and as CSV.
#pragma once

#include <ostream>
#include <string_view>

#include "postproc/duckdb/session.h"

namespace jtrace::control {

// Every column as the query has it.
void WriteAnswerCsv(const postproc::duckdb::Answer& answer, std::ostream& out);

// Of a query of `jtrace fleet`; `width` columns.
void WriteAnswerText(std::string_view query, const postproc::duckdb::Answer& answer, int width,
                     std::ostream& out);

// Rows of the query `check`, up to `last`, in which anything is broken: one line each. Returns
// their number; without any, a line says that all hold.
int WriteChecks(const postproc::duckdb::Answer& answer, int64_t last, std::ostream& out);

}  // namespace jtrace::control
