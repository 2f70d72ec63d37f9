// UTF-8 for readers that reject anything else. Pure; any thread, not in signal handlers.
#pragma once

#include <string>
#include <string_view>

namespace jtrace {

// `text` with U+FFFD for each lone surrogate and each byte that belongs to no character.
std::string ValidUtf8(std::string_view text);

// Columns that a terminal gives the text.
size_t ColumnsOf(std::string_view utf8);
// The text in exactly `columns` columns: cut off with "…", or filled up with spaces.
std::string FitColumns(std::string_view utf8, size_t columns);

}  // namespace jtrace
