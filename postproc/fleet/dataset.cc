#include "postproc/fleet/dataset.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "postproc/fleet/fleet_tree.h"
#include "postproc/fleet/merged_runs.h"
#include "postproc/fleet/place_lock.h"
#include "postproc/fleet/schema.h"
#include "postproc/parquet/file.h"
#include "postproc/support/error_kind.h"
#include "postproc/support/output_file.h"
#include "postproc/support/strings.h"
#include "postproc/version.h"

namespace jtrace::postproc::fleet {
namespace {

// A batch of this size is written before more runs are added: a bound of the memory.
constexpr size_t kNodesOfBatch = 2'000'000;

absl::Status WriteTable(const std::filesystem::path& file, TableId id,
                        const parquet::Table& table) {
  const absl::StatusOr<std::string> bytes =
      parquet::EncodeFile(table,
                          {{"jtrace.table", std::string(TableName(id))},
                           {"jtrace.schema_version", StrCat(kSchemaVersion)}},
                          StrCat("jtrace-post version ", kVersion, " (build release)"));
  if (!bytes.ok()) return bytes.status();
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  if (error) {
    return OfKind(ErrorKind::kOutput, absl::UnavailableError(StrCat("cannot make the folder ",
                                                                    file.parent_path().string(),
                                                                    ": ", error.message())));
  }
  absl::StatusOr<OutputFile> out = OutputFile::Open(file.string());
  if (!out.ok()) return out.status();
  out->stream() << *bytes;
  return out->Commit();
}

// Whether each node's sampled time is a number of nanoseconds that the queries can add up.
bool HasTimesThatFit(const FleetTree& tree, int64_t interval_ns) {
  return std::all_of(tree.nodes().begin(), tree.nodes().end(), [&](const FleetNode& node) {
    int64_t product = 0;
    return !__builtin_mul_overflow(node.base_ticks, interval_ns, &product) &&
           !__builtin_mul_overflow(node.cum_ticks, interval_ns, &product);
  });
}

}  // namespace

absl::Status DatasetWriter::Add(const ReportInput& input) {
  absl::Status status = AddRun(input);
  // A file without some of its runs would have another name than the whole one, and stay beside it.
  if (!status.ok()) batches_.clear();
  return status;
}

absl::Status DatasetWriter::CheckNotMerged(const Partition& partition,
                                           const std::vector<int64_t>& runs) {
  const auto [known, inserted] = merged_.try_emplace(partition);
  const std::filesystem::path folder =
      std::filesystem::path(options_.folder) / TableName(kRuns) / partition.Folder();
  if (inserted) known->second = ReadMergedRuns(folder);
  for (const int64_t run : runs) {
    if (!known->second.contains(run)) continue;
    return absl::InvalidArgumentError(
        StrCat(traces_.at(run), ": its run is in a merged file of ", folder.string(),
               " and would count twice: leave it out, or convert into another folder"));
  }
  return absl::OkStatus();
}

absl::Status DatasetWriter::AddRun(const ReportInput& input) {
  RunFacts facts = FactsOf(input, options_.labels);
  const auto [known, inserted] = traces_.try_emplace(facts.id, facts.trace);
  if (!inserted) {
    return absl::InvalidArgumentError(
        StrCat(facts.trace, " and ", known->second, " are of one recording: convert one of them"));
  }
  if (absl::Status status = CheckNotMerged(facts.partition, {facts.id}); !status.ok()) {
    return status;
  }
  const FleetTree tree(input);
  if (facts.interval_ns.has_value() && !HasTimesThatFit(tree, *facts.interval_ns)) {
    if (options_.say != nullptr) {
      options_.say(StrCat(facts.trace, ": its ticks of ", *facts.interval_ns,
                          " ns are more than 292 years: its sampled times are left out; record it "
                          "again"));
    }
    facts.interval_ns.reset();
  }
  std::unique_ptr<Batch>& batch = batches_[facts.partition];
  if (batch == nullptr) batch = std::make_unique<Batch>();
  if (absl::Status status = batch->Add(input, tree, facts, options_.labels); !status.ok()) {
    return status;
  }
  if (batch->nodes() < kNodesOfBatch) return absl::OkStatus();
  const std::unique_ptr<Batch> full = std::move(batch);
  batches_.erase(facts.partition);
  full->GroupRows();
  return Write(facts.partition, *full);
}

absl::Status DatasetWriter::Finish() {
  for (const auto& [partition, batch] : std::exchange(batches_, {})) {
    batch->GroupRows();
    if (absl::Status status = Write(partition, *batch); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// A table without rows has no file; one of an earlier conversion is removed.
absl::Status DatasetWriter::Write(const Partition& partition, const Batch& batch) {
  const std::filesystem::path folder(options_.folder);
  const std::string name = batch.Name() + ".parquet";
  const PlaceLock lock = PlaceLock::ToWrite(folder, partition.Folder());
  // They may have been merged since they were added.
  merged_.erase(partition);
  if (absl::Status status = CheckNotMerged(partition, batch.runs()); !status.ok()) return status;
  // Backwards, because `runs` is the first.
  for (size_t i = kTables; i-- > 0;) {
    const auto id = static_cast<TableId>(i);
    const std::filesystem::path file = folder / TableName(id) / partition.Folder() / name;
    if (batch.table(id).rows() == 0) {
      std::error_code none;
      std::filesystem::remove(file, none);
    } else if (absl::Status status = WriteTable(file, id, batch.table(id)); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace jtrace::postproc::fleet
