#include "postproc/analysis.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "postproc/calltree/outside_calls.h"
#include "postproc/calltree/reroot.h"
#include "postproc/input/all_reports.h"
#include "postproc/input/selection.h"
#include "postproc/lines/merged_lines.h"
#include "postproc/lines/path_costs.h"
#include "postproc/lines/unloaded_classes.h"
#include "postproc/model/code_owner.h"
#include "postproc/reader/record_filter.h"
#include "postproc/report/scope_coverage.h"
#include "postproc/source/class_path_files.h"
#include "postproc/support/error_kind.h"

namespace jtrace::postproc {

namespace {

// `file`: empty: jtrace's own table.
absl::StatusOr<InstructionCosts> ReadCosts(const std::string& file) {
  if (file.empty()) return InstructionCosts::Standard();
  std::ifstream in(file);
  const std::string rules{std::istreambuf_iterator<char>(in), {}};
  if (!in.is_open() || in.bad()) {
    return UsageError(absl::NotFoundError(StrCat("--costs=", file, " cannot be read")));
  }
  auto costs = InstructionCosts::WithRules(rules);
  if (!costs.ok()) {
    return UsageError(absl::InvalidArgumentError(
        StrCat("--costs=", file, ": ", std::string(costs.status().message()))));
  }
  return costs;
}

std::string WithSlashes(std::string_view class_name) {
  std::string name(class_name);
  std::replace(name.begin(), name.end(), '.', '/');
  return name;
}

// Text is read by people, who want equal threads together, unless the report is about threads.
Aggregate AggregateOf(const CommandLine& line) {
  if (line.aggregate.has_value()) return *line.aggregate;
  if (line.format != Format::kText || !line.thread.empty()) return Aggregate::kThread;
  const bool is_of_paths =
      std::all_of(line.reports.begin(), line.reports.end(), [](const std::string& name) {
        const ReportGroup group = FindReport(name)->group;
        return group == ReportGroup::kRecording || group == ReportGroup::kRoutines;
      });
  return is_of_paths ? Aggregate::kGroup : Aggregate::kThread;
}

// Sampled frames of these kinds of code; what events counted stays.
RerootedTree FoldKinds(const CallTree& tree, const std::vector<ThreadSummary>& threads,
                       const TraceModel& model, uint32_t folded) {
  const std::vector<CodeOwner> kinds = CodeOwners(model);
  return FoldNodes(tree, threads, [&](const CallNode& node, bool) {
    const auto kind = static_cast<uint32_t>(kinds[node.routine.value]);
    return node.origin == NodeOrigin::kSample && (folded >> kind & 1) != 0;
  });
}

}  // namespace

Analysis::Analysis(const CommandLine& line)
    : line_(line),
      waits_(model_),
      waited_(model_),
      hooks_(line.aggregate != Aggregate::kProcess),
      blocks_(model_),
      ticks_(model_),
      builder_(line.merge, AggregateOf(line), model_, stats_),
      line_sources_{blocks_, ticks_, InstructionCosts::Standard(), {}} {}

absl::Status Analysis::Read(const TraceInput& input, absl::Span<const std::string> traces) {
  absl::StatusOr<SourceFinder> sources = SourceFinder::Open(line_.report.sources);
  if (!sources.ok()) return sources.status();
  sources_ = *std::move(sources);
  RecordFilter filter({line_.thread, line_.with_labels, line_.scope}, model_,
                      {&builder_, &samples_, &records_, &jit_, &waits_, &waited_, &io_, &segments_,
                       &hooks_, &timeline_, &classes_, &blocks_, &ticks_});
  if (absl::Status status = input.Read(traces, /*reduce_calls=*/true, model_, stats_, filter);
      !status.ok()) {
    return status;
  }
  builder_.Finish();
  if (absl::Status status = MakeLines(); !status.ok()) return status;
  AddPathCosts(blocks_, line_sources_.costs, model_, builder_);
  if (!blocks_.has_paths() && IsCostMetric(line_.report.metric)) {
    AddMethodCosts(lines_, model_, builder_);
  }
  return absl::OkStatus();
}

void Analysis::MakeProfile(bool with_sites, Profile& profile) {
  const CallTree& whole = builder_.tree();
  if (!line_.report.root.empty()) {
    profile.own = Reroot(whole, builder_.Threads(), model_, line_.report.root, with_sites);
  } else if (whole.has_places() && !with_sites) {
    profile.own = MergePlaces(whole, builder_.Threads());
  }
  profile.threads = profile.own.has_value() ? profile.own->threads : builder_.Threads();
  if (line_.report.outside_in_caller) {
    profile.folded = FoldOutsideCalls(TreeOf(profile), profile.threads, model_);
    profile.threads = profile.folded->threads;
  }
  if (line_.report.folded_kinds != 0) {
    profile.folded = FoldKinds(TreeOf(profile), profile.threads, model_, line_.report.folded_kinds);
    profile.threads = profile.folded->threads;
  }
  profile.sums.emplace(model_, WholeTreeOf(profile), TreeOf(profile), line_.report.metric);
}

absl::StatusOr<UnloadedClasses> Analysis::ReadUnloaded() {
  absl::flat_hash_set<std::string> known;
  for (const auto& [name, entry] : classes_.classes()) known.insert(name);
  for (const MethodLines& method : lines_.methods) known.insert(method.class_name);
  for (const RoutineId routine : model_.scope()) {
    known.insert(std::string(ClassOf(model_.RoutineName(routine))));
  }
  UnloadedClasses unloaded(RecordedScope(model_), std::move(known));
  uint64_t unreadable = 0;
  int64_t release = 0;
  for (const TraceInfo& trace : model_.traces()) release = std::max(release, trace.JavaRelease());
  const absl::Status read = ReadClassFiles(
      line_.report.classes, release, [&](absl::Span<const uint8_t> bytes) { unloaded.Add(bytes); },
      unreadable);
  if (!read.ok()) return read;
  if (const uint64_t left_out = unreadable + unloaded.unreadable(); left_out > 0) {
    stats_.Add(Problem::kUnreadableClasses, {}, static_cast<int64_t>(left_out));
  }
  return unloaded;
}

absl::Status Analysis::MakeLines() {
  auto costs = ReadCosts(line_.report.costs);
  if (!costs.ok()) return costs.status();
  InlinedLines inlined;
  line_sources_.costs = *std::move(costs);
  lines_ = blocks_.Lines(line_sources_.costs, &ticks_, inlined);
  if (!line_.report.classes.empty()) {
    absl::StatusOr<UnloadedClasses> unloaded = ReadUnloaded();
    if (!unloaded.ok()) return unloaded.status();
    for (const MethodLines& method : unloaded->methods()) {
      if (!method.is_part) line_sources_.never_loaded.push_back(FullName(method));
      // Without counts of loaded classes there are no counts of lines.
      if (!blocks_.methods().empty()) lines_.methods.push_back(method);
    }
  }
  const RecordedScope scope(model_);
  inlined.PlaceInto(
      [&](std::string_view class_name) { return scope.HasClass(WithSlashes(class_name)); }, lines_);
  SortMethods(lines_);
  return absl::OkStatus();
}

absl::Status Analysis::CheckSelected() const {
  if (absl::Status status = CheckLines(line_, lines_); !status.ok()) return status;
  if (absl::Status status = CheckSites(line_, builder_.tree()); !status.ok()) return status;
  const BlocksCounted counted = blocks_.has_paths() && blocks_.has_methods() ? BlocksCounted::kBoth
                                : blocks_.has_paths()   ? BlocksCounted::kByPath
                                : blocks_.has_methods() ? BlocksCounted::kByMethod
                                                        : BlocksCounted::kNot;
  if (absl::Status status = CheckCosts(line_, counted); !status.ok()) return status;
  return CheckSelection(line_, model_, builder_.tree());
}

ReportInput Analysis::Input() { return InputOf(/*with_sites=*/false, plain_); }

ReportInput Analysis::InputWithSites() {
  if (!builder_.tree().has_places() || !ShowsSites(line_)) return Input();
  return InputOf(/*with_sites=*/true, sited_);
}

ReportInput Analysis::InputOf(bool with_sites, std::optional<Profile>& profile) {
  if (!profile.has_value()) MakeProfile(with_sites, profile.emplace());
  const Recorded recorded = {.model = model_,
                             .tree = TreeOf(*profile),
                             .profile = *profile->sums,
                             .threads = profile->threads,
                             .merge = builder_.merge_stats(),
                             .samples = samples_,
                             .records = records_,
                             .jit = jit_,
                             .waits = waits_,
                             .waited = waited_,
                             .io = io_,
                             .segments = segments_,
                             .hooks = hooks_,
                             .timeline = timeline_,
                             .classes = classes_,
                             .line_sources = line_sources_,
                             .sources = sources_,
                             .stats = stats_,
                             .first_time = builder_.first_time(),
                             .last_time = builder_.last_time()};
  return {recorded, lines_, line_.report};
}

}  // namespace jtrace::postproc
