// What the reports of NaivePost have in common: walking its tree, and numbers as text.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "native-tests/support/naive_post.h"

namespace jtrace::testing {

inline std::string Num(int64_t value) { return std::to_string(value); }

using Visit = std::function<void(const NaiveNode&, int level)>;
// In preorder; siblings by the metric's cum, then cum, cum_ticks and calls descending, then name.
void Walk(const NaiveNode& node, int level, const Visit& visit, const std::string& metric = "");

}  // namespace jtrace::testing
