// Names of the events that do not change the call tree, by their major and minor codes (FIG. 30).
#pragma once

#include <cstdint>
#include <string_view>

namespace jtrace::postproc {

// The op that a text trace shows for a code; empty: unknown. An end code ("…-end", "…-unload") is
// its begin code's minor + format::kEnd.
std::string_view EventOp(uint32_t major, uint32_t minor);

}  // namespace jtrace::postproc
