// Whether `jtrace fleet compact` may merge the files of a service, day and host, and how it asks
// DuckDB about them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "postproc/cli/folder_swap.h"
#include "postproc/duckdb/session.h"

namespace jtrace::control {

size_t TablesOf(const std::vector<FileFacts>& files);

// For FROM: their own columns only, not those of their folders' names.
std::string RowsOf(const std::filesystem::path& folder, const std::vector<FileFacts>& files);

// The answer to a question with one row of one column.
absl::StatusOr<int64_t> NumberOf(postproc::duckdb::Session& session, const std::string& sql);

// `place` is "service=…/day=…/host=…" in each table of `data`. "": its files can be merged, or
// there is nothing to merge; else why they are left as they are.
absl::StatusOr<std::string> WhyNotMerge(const std::filesystem::path& data,
                                        const std::filesystem::path& place,
                                        postproc::duckdb::Session& session);

}  // namespace jtrace::control
