// A folder of tables, DIR/TABLE/service=…/day=…/host=…/RUNS.parquet.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "postproc/fleet/batch.h"
#include "postproc/fleet/labels.h"
#include "postproc/fleet/run_facts.h"
#include "postproc/report/report.h"

namespace jtrace::postproc::fleet {

struct DatasetOptions {
  std::string folder;  // made if it is not there
  Labels labels;
};

// Collects runs and writes a file of each table for the runs of one partition. A file appears
// complete or not at all, that of `runs` last. The same runs have the same file names: converted
// again they replace what was there.
class DatasetWriter {
 public:
  explicit DatasetWriter(DatasetOptions options) : options_(std::move(options)) {}

  // `input` is of one trace.
  absl::Status Add(const ReportInput& input);
  // Writes what is not yet written.
  absl::Status Finish();

 private:
  absl::Status Write(const Partition& partition, const Batch& batch);

  DatasetOptions options_;
  std::map<Partition, std::unique_ptr<Batch>> batches_;
};

// One trace: its tables, in files of their own.
absl::Status WriteParquet(const ReportInput& input, const DatasetOptions& options);

}  // namespace jtrace::postproc::fleet
