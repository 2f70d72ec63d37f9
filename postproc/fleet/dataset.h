// A folder of tables, DIR/TABLE/service=…/day=…/host=…/RUNS.parquet.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "postproc/fleet/batch.h"
#include "postproc/fleet/labels.h"
#include "postproc/fleet/run_facts.h"
#include "postproc/report/report.h"

namespace jtrace::postproc::fleet {

struct DatasetOptions {
  std::string folder;  // made if it is not there
  Labels labels;
  // Gets what is left out of the tables, a line each. May be null.
  std::function<void(std::string_view)> say;
};

// Collects runs and writes a file of each table for the runs of one partition. A file appears
// complete or not at all, that of `runs` last. The same runs have the same file names: converted
// again they replace what was there.
class DatasetWriter {
 public:
  explicit DatasetWriter(DatasetOptions options) : options_(std::move(options)) {}

  // `input` is of one trace. InvalidArgument if its run was there already, or is in a file that
  // `jtrace fleet compact` merged; Internal if two paths or two routines have one id. After an
  // error nothing more is written.
  absl::Status Add(const ReportInput& input);
  // Writes what is not yet written. Not after an error of any trace: what is written is then
  // replaced when all are converted again.
  absl::Status Finish();

 private:
  absl::Status AddRun(const ReportInput& input);
  absl::Status CheckNotMerged(const Partition& partition, const std::vector<int64_t>& runs);
  absl::Status Write(const Partition& partition, const Batch& batch);

  DatasetOptions options_;
  absl::flat_hash_map<int64_t, std::string> traces_;  // by the run's id
  std::map<Partition, absl::flat_hash_set<int64_t>> merged_;
  std::map<Partition, std::unique_ptr<Batch>> batches_;
};

}  // namespace jtrace::postproc::fleet
