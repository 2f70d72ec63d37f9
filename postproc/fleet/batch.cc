#include "postproc/fleet/batch.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "postproc/fleet/row.h"
#include "postproc/fleet/run_tables.h"
#include "postproc/model/code_owner.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc::fleet {
namespace {

std::string Hex(int64_t id) { return absl::StrFormat("%016x", static_cast<uint64_t>(id)); }

// Those that the tree, a sample or the scope has; by RoutineId.
std::vector<bool> FindUsed(const ReportInput& input) {
  std::vector<bool> used(input.model.routine_count() + 1);
  for (uint32_t i = 1; i <= input.tree.size(); ++i) {
    used[input.tree.node(NodeId(i)).routine.value] = true;
  }
  for (const RoutineId routine : input.model.scope()) used[routine.value] = true;
  used[0] = false;
  return used;
}

// Functions of other code than Java's.
RoutineKind KindOf(const TraceModel& model, RoutineId routine, CodeOwner owner) {
  const bool is_native =
      owner == CodeOwner::kNative || owner == CodeOwner::kJvm || owner == CodeOwner::kKernel;
  return is_native ? RoutineKind::kNative : model.TraitsOf(routine).kind;
}

}  // namespace

Batch::Batch() {
  for (size_t i = 0; i < kTables; ++i) tables_.emplace_back(ColumnsOf(static_cast<TableId>(i)));
}

absl::Status Batch::NoteRoutine(int64_t id, std::string_view identity) {
  const auto [entry, inserted] = identities_.try_emplace(id, identity);
  if (inserted || entry->second == identity) return absl::OkStatus();
  return absl::InternalError(StrCat("two routines have the id ", Hex(id), ": ", entry->second,
                                    " and ", identity, "; leave one out with exclude="));
}

absl::Status Batch::NotePath(const PathHash& path, const PathHash& parent, int64_t routine,
                             bool& is_new) {
  const auto [entry, inserted] = paths_.try_emplace(path, parent, routine);
  is_new = inserted;
  if (entry->second == std::pair(parent, routine)) return absl::OkStatus();
  return absl::InternalError(StrCat("two call paths have the id ", Hex(path.high()),
                                    Hex(path.low()), ": one folder cannot distinguish them"));
}

absl::Status Batch::AddRoutines(const ReportInput& input, const FleetTree& tree) {
  const std::vector<bool> used = FindUsed(input);
  const std::vector<CodeOwner> owners = CodeOwners(input.model);
  for (uint32_t i = 1; i < used.size(); ++i) {
    if (!used[i]) continue;
    const StableRoutine& routine = tree.routines()[tree.RoutineOf(RoutineId(i))];
    const int64_t id = routine.id;
    if (absl::Status status = NoteRoutine(id, routine.identity); !status.ok()) return status;
    const RoutineKind kind = KindOf(input.model, RoutineId(i), owners[i]);
    const bool is_probed = input.model.scope().contains(RoutineId(i));
    const std::tuple key(id, static_cast<uint8_t>(kind), static_cast<uint8_t>(owners[i]),
                         is_probed);
    if (!routine_rows_.insert(key).second) continue;
    Row(tables_[kRoutines])
        .Int(id)
        .Text(routine.shown)
        .TextOrNull(routine.class_name)
        .Text(routine.name)
        .TextOrNull(routine.descriptor)
        .Text(RoutineKindName(kind))
        .Text(CodeOwnerName(owners[i]))
        .Bool(is_probed);
  }
  return absl::OkStatus();
}

absl::Status Batch::AddPaths(const FleetTree& tree) {
  for (const FleetNode& node : tree.nodes()) {
    const bool is_root = node.depth == 0;
    const PathHash& parent = tree.nodes()[node.parent].path;
    const int64_t routine = is_root ? 0 : tree.routines()[node.routine].id;
    bool is_new = false;
    if (absl::Status status = NotePath(node.path, parent, routine, is_new); !status.ok()) {
      return status;
    }
    if (!is_new) continue;
    Row row(tables_[kPaths]);
    row.Int(node.path.high()).Int(node.path.low());
    if (is_root) {
      row.Null().Null().Null();
    } else {
      row.Int(parent.high()).Int(parent.low()).Int(routine);
    }
    row.Int(node.depth).Int(node.level);
  }
  return absl::OkStatus();
}

absl::Status Batch::Add(const ReportInput& input, const FleetTree& tree, const RunFacts& facts,
                        const Labels& labels) {
  runs_.push_back(facts.id);
  if (absl::Status status = AddRoutines(input, tree); !status.ok()) return status;
  if (absl::Status status = AddPaths(tree); !status.ok()) return status;
  AddRun(input, facts, labels, tables_[kRuns]);
  AddNodes(facts, tree, tables_[kNodes]);
  AddArcs(facts, tree, tables_[kArcs]);
  AddSamples(input, facts, tree, tables_[kSamples]);
  AddThreads(input, facts, tables_[kThreads]);
  AddMetrics(input, facts, tree, tables_[kMetrics]);
  AddClasses(input, facts, tables_[kClasses]);
  AddLosses(input, facts, tables_[kLosses]);
  return absl::OkStatus();
}

void Batch::GroupRows() {
  using Names = std::vector<std::string_view>;
  for (const auto& [table, columns] : std::initializer_list<std::pair<TableId, Names>>{
           {kNodes, {"path_lo", "thread_group"}},
           {kArcs, {"caller_id", "callee_id", "outermost"}},
           {kSamples, {"path_lo", "thread_group", "state", "function_id"}},
           {kMetrics, {"path_lo", "thread_group", "metric"}},
           {kClasses, {"class"}}}) {
    tables_[table].GroupRows(columns);
  }
}

std::string Batch::Name() const {
  std::vector<int64_t> ids = runs_;
  if (ids.size() == 1) return Hex(ids.front());
  std::sort(ids.begin(), ids.end());
  std::string all;
  for (const int64_t id : ids) all += Hex(id);
  return StrCat(Hex(StableId(all)), "-", ids.size());
}

}  // namespace jtrace::postproc::fleet
