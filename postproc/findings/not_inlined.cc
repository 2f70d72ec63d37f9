// Frequent calls between compiled methods that the JIT compiler did not inline.
#include <algorithm>
#include <string>

#include "postproc/findings/rules.h"
#include "postproc/report/hot_arcs.h"
#include "postproc/report/shorten.h"
#include "postproc/report/units.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

constexpr double kLeastArcShare = 10;  // percent of the calls between methods
constexpr int64_t kLeastArcCalls = 1'000'000;

// Reasons that a change of the program can remove; a native method or a recursion is what it is.
constexpr std::string_view kRemovable[] = {"too big", "megamorphic", "too deep", "out of nodes"};

bool KnowsInlining(const Facts& facts) { return facts.has_calls() && !facts.input().jit.empty(); }

void FindNotInlined(const Facts& facts, std::vector<Finding>& findings) {
  const std::vector<HotArc> arcs = CollectHotArcs(facts.input(), kLeastArcShare);
  int64_t all = 0;
  for (const HotArc& arc : arcs) all = WrapAdd(all, arc.calls);
  for (const HotArc& arc : arcs) {
    const double share = PercentOf(arc.calls, all);
    if (arc.calls < kLeastArcCalls || share < kLeastArcShare) break;
    const bool is_compiled = PercentOf(arc.jitted, arc.calls) >= 50;
    if (arc.status != "not inlined" || !is_compiled || !IsOneOf(arc.reason.reason, kRemovable)) {
      continue;
    }
    findings.push_back(
        {.share = share,
         .of = ShareOf::kCalls,
         .sentence = StrCat("the JIT compiler does not inline ", facts.Name(arc.callee), " into ",
                            facts.Name(arc.caller), ": ", arc.reason.reason),
         .evidence = StrCat(Counted(arc.calls, "call"), "; ", arc.reason.detail),
         .suggestion = std::string(arc.reason.remedy),
         .next = {"--report=jit"}});
  }
}

}  // namespace

const Rule kNotInlined = {"not-inlined", "frequent calls that the JIT compiler did not inline",
                          "mode=merged", KnowsInlining, FindNotInlined};

}  // namespace jtrace::postproc
