// What follows from a call tree, each part when it is first used: reports need different ones, and
// each takes time and memory for every node. One thread.
#pragma once

#include <optional>
#include <string>

#include "postproc/calltree/arc_flow.h"
#include "postproc/calltree/call_tree.h"
#include "postproc/calltree/flat_profile.h"
#include "postproc/calltree/measure.h"
#include "postproc/calltree/outside_calls.h"
#include "postproc/model/trace_model.h"

namespace jtrace::postproc {

class TreeProfile {
 public:
  // All outlive it. `whole`: the tree before nodes were folded into their callers. `metric`:
  // --metric.
  TreeProfile(const TraceModel& model, const CallTree& whole, const CallTree& tree,
              const std::string& metric)
      : model_(model), whole_(whole), tree_(tree), metric_(metric) {}

  const TreeTotals& totals() const {
    return Once(totals_, [&] { return tree_.ComputeTotals(); });
  }
  const Measure& measure() const {
    return Once(measure_, [&] { return ChooseMeasure(metric_, model_, tree_); });
  }
  const FlatProfile& flat() const {
    return Once(flat_, [&] { return FlatProfile(model_, tree_, totals(), measure()); });
  }
  ArcFlow arcs() const { return ArcFlow(tree_, totals(), flat(), measure()); }
  const OutsideCosts& outside() const {
    return Once(outside_, [&] { return SumUpOutsideCalls(model_, whole_); });
  }

 private:
  template <typename Part, typename Make>
  static const Part& Once(std::optional<Part>& part, Make make) {
    if (!part.has_value()) [[unlikely]]
      part.emplace(make());
    return *part;
  }

  const TraceModel& model_;
  const CallTree& whole_;
  const CallTree& tree_;
  const std::string& metric_;
  mutable std::optional<TreeTotals> totals_;
  mutable std::optional<Measure> measure_;
  mutable std::optional<FlatProfile> flat_;
  mutable std::optional<OutsideCosts> outside_;
};

}  // namespace jtrace::postproc
