// One reading of traces, and all the input of reports.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "postproc/calltree/reroot.h"
#include "postproc/calltree/tree_builder.h"
#include "postproc/input/command_line.h"
#include "postproc/input/trace_input.h"
#include "postproc/lines/block_log.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

class Analysis {
 public:
  // `line` outlives it.
  explicit Analysis(const CommandLine& line);
  Analysis(const Analysis&) = delete;

  // Once.
  absl::Status Read(const TraceInput& input, absl::Span<const std::string> traces);

  // After Read. An error names what the command line selects and the traces lack.
  absl::Status CheckSelected() const;
  // After Read; valid as long as this is.
  ReportInput Input();
  const ImportStats& stats() const { return stats_; }

 private:
  const CommandLine& line_;
  TraceModel model_;
  ImportStats stats_;
  SampleLog samples_;
  RecordCounts records_;
  JitLog jit_;
  WaitLog waits_;
  HookLog hooks_;
  Timeline timeline_;
  ClassLog classes_;
  BlockLog blocks_;
  SourceFinder sources_;
  TreeBuilder builder_;
  // Derived from the whole.
  std::optional<RerootedTree> rerooted_;
  std::vector<ThreadSummary> threads_;
  std::vector<NodeTotals> totals_;
  Measure measure_;
  std::optional<FlatProfile> flat_;
  std::optional<ArcFlow> arcs_;
  LineProfile lines_;
};

}  // namespace jtrace::postproc
