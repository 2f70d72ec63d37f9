// All that reports need of a trace, so that every stage runs over an input.
#pragma once

#include "native-tests/fuzz/require.h"
#include "postproc/calltree/arc_flow.h"
#include "postproc/calltree/flat_profile.h"
#include "postproc/calltree/tree_builder.h"
#include "postproc/lines/block_log.h"
#include "postproc/lines/line_ticks.h"
#include "postproc/lines/method_codes.h"
#include "postproc/lines/path_costs.h"
#include "postproc/model/import_stats.h"
#include "postproc/reader/record_filter.h"
#include "postproc/samples/event_logs.h"
#include "postproc/samples/path_tree.h"

namespace jtrace::fuzz {

class ReportStages {
 public:
  ReportStages()
      : builder_(postproc::MergeMode::kChain, postproc::Aggregate::kThread, model_, stats_) {}

  postproc::TraceModel& model() { return model_; }
  postproc::ImportStats& stats() { return stats_; }
  postproc::RecordVisitor& visitor() { return filter_; }

  // The invariants of every input.
  void Check() {
    using namespace postproc;  // NOLINT
    builder_.Finish();
    AddPathCosts(blocks_, InstructionCosts::Standard(), model_, builder_);
    const CallTree& tree = builder_.tree();
    const auto totals = tree.ComputeTotals();
    for (const std::string& name : MeasureNames(model_, tree)) {
      const Measure measure = ChooseMeasure(name, model_, tree);
      const FlatProfile flat(model_, tree, totals, measure);
      const ArcFlow arcs(tree, totals, flat, measure);
      Require(arcs.Check().held() == 4);
      Require(arcs.Check(arcs.Stanzas(flat.Sorted())).held() == 4);
      const PathTree paths(model_, tree, measure.base.values());
      Require(paths.total() == measure.whole);
    }
    int64_t ticks = 0;
    for (const NodeId root : tree.roots()) ticks = WrapAdd(ticks, totals[root.value - 1].cum_ticks);
    Require(ticks == builder_.merge_stats().ticks);
    const PathTree paths(model_, samples_);
    Require(paths.total() == TotalWeight(samples_));
    const LineSources sources{blocks_, ticks_, InstructionCosts::Standard(), {}};
    MethodCodes codes(sources);
    for (const MethodLines& method : blocks_.Lines(InstructionCosts::Standard()).methods) {
      for (const LineCounts& line : method.lines) {
        Require(line.branches_taken <= line.branches && !line.blocks.empty());
      }
      for (const MethodCode& code : codes.Of(method)) Require(!code.instructions.empty());
    }
  }

 private:
  postproc::TraceModel model_;
  postproc::ImportStats stats_;
  postproc::TreeBuilder builder_;
  postproc::SampleLog samples_;
  postproc::BlockLog blocks_{model_};
  postproc::LineTicks ticks_{model_};
  postproc::HookLog hooks_{/*by_thread=*/true};
  postproc::RecordFilter filter_{{}, model_, {&builder_, &samples_, &hooks_, &blocks_, &ticks_}};
};

}  // namespace jtrace::fuzz
