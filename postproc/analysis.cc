#include "postproc/analysis.h"

#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "postproc/input/line_selection.h"
#include "postproc/input/selection.h"
#include "postproc/reader/record_filter.h"

namespace jtrace::postproc {

namespace {

// `file`: empty: jtrace's own table.
absl::StatusOr<InstructionCosts> ReadCosts(const std::string& file) {
  if (file.empty()) return InstructionCosts::Standard();
  std::ifstream in(file);
  const std::string rules{std::istreambuf_iterator<char>(in), {}};
  if (!in.is_open() || in.bad()) {
    return absl::NotFoundError(StrCat("--costs=", file, " cannot be read"));
  }
  auto costs = InstructionCosts::WithRules(rules);
  if (!costs.ok()) {
    return absl::InvalidArgumentError(
        StrCat("--costs=", file, ": ", std::string(costs.status().message())));
  }
  return costs;
}

}  // namespace

Analysis::Analysis(const CommandLine& line)
    : line_(line),
      waits_(model_),
      hooks_(line.aggregate == Aggregate::kThread),
      blocks_(model_),
      builder_(line.merge, line.aggregate == Aggregate::kProcess, model_, stats_) {}

absl::Status Analysis::Read(const TraceInput& input, absl::Span<const std::string> traces) {
  absl::StatusOr<SourceFinder> sources = SourceFinder::Open(line_.report.sources);
  if (!sources.ok()) return sources.status();
  sources_ = *std::move(sources);
  RecordFilter filter(
      line_.thread, line_.scope, model_,
      {&builder_, &samples_, &records_, &jit_, &waits_, &hooks_, &timeline_, &classes_, &blocks_});
  if (absl::Status status = input.Read(traces, /*reduce_calls=*/true, model_, stats_, filter);
      !status.ok()) {
    return status;
  }
  builder_.Finish();
  if (!line_.report.root.empty()) {
    rerooted_ = Reroot(builder_.tree(), builder_.Threads(), model_, line_.report.root);
  }
  const CallTree& tree = rerooted_.has_value() ? rerooted_->tree : builder_.tree();
  threads_ = rerooted_.has_value() ? rerooted_->threads : builder_.Threads();
  totals_ = tree.ComputeTotals();
  measure_ = ChooseMeasure(line_.report.metric, model_, tree);
  flat_.emplace(model_, tree, totals_, measure_);
  auto costs = ReadCosts(line_.report.costs);
  if (!costs.ok()) return costs.status();
  lines_ = blocks_.Lines(*costs);
  arcs_.emplace(tree, totals_, *flat_, measure_);
  return absl::OkStatus();
}

absl::Status Analysis::CheckSelected() const {
  if (absl::Status status = CheckLines(line_, lines_); !status.ok()) return status;
  return CheckSelection(line_, model_, builder_.tree());
}

ReportInput Analysis::Input() {
  return {model_,
          rerooted_.has_value() ? rerooted_->tree : builder_.tree(),
          totals_,
          measure_,
          *flat_,
          *arcs_,
          threads_,
          builder_.merge_stats(),
          samples_,
          records_,
          jit_,
          waits_,
          hooks_,
          timeline_,
          classes_,
          lines_,
          sources_,
          stats_,
          builder_.first_time(),
          builder_.last_time(),
          line_.report};
}

}  // namespace jtrace::postproc
