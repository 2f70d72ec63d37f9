// One reading of traces, and all the input of reports.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "postproc/calltree/reroot.h"
#include "postproc/calltree/tree_builder.h"
#include "postproc/input/command_line.h"
#include "postproc/input/trace_input.h"
#include "postproc/lines/block_log.h"
#include "postproc/lines/line_sources.h"
#include "postproc/lines/line_ticks.h"
#include "postproc/lines/unloaded_classes.h"
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
  // The same with calls distinguished by their places in the callers, if the traces have these and
  // any report of the command line shows them.
  ReportInput InputWithSites();
  const TraceModel& model() const { return model_; }
  const LineProfile& lines() const { return lines_; }
  const ImportStats& stats() const { return stats_; }

 private:
  // A tree that reports show, made when one of them needs it.
  struct Profile {
    std::optional<RerootedTree> own;     // none: the builder's tree
    std::optional<RerootedTree> folded;  // --outside=caller, --fold
    std::vector<ThreadSummary> threads;
    std::optional<TreeProfile> sums;
  };

  absl::Status MakeLines();
  void MakeProfile(bool with_sites, Profile& profile);
  // Before nodes are folded into their callers.
  const CallTree& WholeTreeOf(const Profile& profile) const {
    return profile.own.has_value() ? profile.own->tree : builder_.tree();
  }
  const CallTree& TreeOf(const Profile& profile) const {
    return profile.folded.has_value() ? profile.folded->tree : WholeTreeOf(profile);
  }
  ReportInput InputOf(bool with_sites, std::optional<Profile>& profile);
  // What --classes names, without the classes that were loaded.
  absl::StatusOr<UnloadedClasses> ReadUnloaded();

  const CommandLine& line_;
  TraceModel model_;
  ImportStats stats_;
  SampleLog samples_;
  RecordCounts records_;
  JitLog jit_;
  WaitLog waits_;
  WaitedLog waited_;
  IoLog io_;
  SegmentLog segments_;
  HookLog hooks_;
  Timeline timeline_;
  ClassLog classes_;
  BlockLog blocks_;
  LineTicks ticks_;
  SourceFinder sources_;
  TreeBuilder builder_;
  // Derived from the whole.
  std::optional<Profile> plain_;
  std::optional<Profile> sited_;
  LineProfile lines_;
  LineSources line_sources_;
};

}  // namespace jtrace::postproc
