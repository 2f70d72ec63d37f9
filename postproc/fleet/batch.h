// The tables of several runs of one partition. Routines and paths are in it once, however many runs
// have them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "postproc/fleet/fleet_tree.h"
#include "postproc/fleet/run_facts.h"
#include "postproc/fleet/schema.h"
#include "postproc/parquet/file.h"
#include "postproc/report/report.h"

namespace jtrace::postproc::fleet {

class Batch {
 public:
  Batch();

  // `input` is of one trace, which is not in any batch yet. Internal if two paths or two routines
  // have one id. After an error the batch is of no use.
  absl::Status Add(const ReportInput& input, const FleetTree& tree, const RunFacts& facts,
                   const Labels& labels);

  // Rows of several runs about the same path, arc or class get neighbours: smaller files.
  void GroupRows();

  parquet::Table& table(TableId id) { return tables_[id]; }
  const parquet::Table& table(TableId id) const { return tables_[id]; }
  const std::vector<int64_t>& runs() const { return runs_; }
  size_t nodes() const { return tables_[kNodes].rows(); }
  // Of the runs' ids: the same for the same runs in any order.
  std::string Name() const;

  // The checks of ids, for tests with made ones.
  absl::Status NoteRoutine(int64_t id, std::string_view identity);
  absl::Status NotePath(const PathHash& path, const PathHash& parent, int64_t routine,
                        bool& is_new);

 private:
  absl::Status AddRoutines(const ReportInput& input, const FleetTree& tree);
  absl::Status AddPaths(const FleetTree& tree);

  std::vector<parquet::Table> tables_;
  std::vector<int64_t> runs_;
  absl::flat_hash_map<int64_t, std::string> identities_;
  // A routine may be a method in one run and a call out of scope in another: a row for each.
  absl::flat_hash_set<std::tuple<int64_t, uint8_t, uint8_t, bool>> routine_rows_;
  absl::flat_hash_map<PathHash, std::pair<PathHash, int64_t>> paths_;  // parent and routine
};

}  // namespace jtrace::postproc::fleet
