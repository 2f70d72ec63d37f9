#include "postproc/fleet/dataset.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "postproc/fleet/schema.h"
#include "postproc/parquet/file.h"
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
    return absl::UnavailableError(
        StrCat("cannot make the folder ", file.parent_path().string(), ": ", error.message()));
  }
  absl::StatusOr<OutputFile> out = OutputFile::Open(file.string());
  if (!out.ok()) return out.status();
  out->stream() << *bytes;
  return out->Commit();
}

}  // namespace

absl::Status DatasetWriter::Add(const ReportInput& input) {
  const RunFacts facts = FactsOf(input, options_.labels);
  std::unique_ptr<Batch>& batch = batches_[facts.partition];
  if (batch == nullptr) batch = std::make_unique<Batch>();
  if (absl::Status status = batch->Add(input, facts, options_.labels); !status.ok()) return status;
  if (batch->nodes() < kNodesOfBatch) return absl::OkStatus();
  const std::unique_ptr<Batch> full = std::move(batch);
  batches_.erase(facts.partition);
  return Write(facts.partition, *full);
}

absl::Status DatasetWriter::Finish() {
  for (const auto& [partition, batch] : std::exchange(batches_, {})) {
    if (absl::Status status = Write(partition, *batch); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// A table without rows has no file; one of an earlier conversion is removed.
absl::Status DatasetWriter::Write(const Partition& partition, const Batch& batch) {
  const std::filesystem::path folder(options_.folder);
  const std::string name = batch.Name() + ".parquet";
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

absl::Status WriteParquet(const ReportInput& input, const DatasetOptions& options) {
  DatasetWriter writer(options);
  if (absl::Status status = writer.Add(input); !status.ok()) return status;
  return writer.Finish();
}

}  // namespace jtrace::postproc::fleet
