// Pieces of the sentences of findings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "postproc/findings/facts.h"

namespace jtrace::postproc {

// "runs 2,000 times per shop.Shop.doGet()": by the nearest caller that makes at least ten calls of
// the method in each of two or more of its own; else "runs 40,000 times, all from shop.Main.run()",
// "mostly from" or, where no caller makes half of the calls, no caller. `at`: the method's node
// whose callers are looked at.
std::string RunsText(const Facts& facts, RoutineId method, NodeId at);

// "2,000", "about 2,000", "0.3": how many of `part` there are for each of `whole`.
std::string EachText(int64_t part, int64_t whole);

// "--of=shop.Catalog.matches(String)"
std::string OfOption(const Facts& facts, RoutineId routine);

}  // namespace jtrace::postproc
