// Statistics of the rewriter: probes by kind, methods without probes by reason. Written into the
// trace as they change. Count on any Java thread; AddChanges on the writer thread.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

#include "absl/container/flat_hash_set.h"
#include "agent/calls/classfile/class_rewriter.h"
#include "agent/trace/chunk_source.h"

namespace jtrace::calls {

class RewriteStatistics : public trace::ChunkSource {
 public:
  // Counts a class in scope when it first passes the rewriter. False: it was counted before, and
  // has been redefined or retransformed since.
  bool Count(uint32_t class_id, const classfile::RewriteResult& result);

  // Whether a class of that number went through the rewriter.
  bool Has(uint32_t class_id) const;

  // Forgets unloaded classes; the counts stay.
  void Forget(const absl::flat_hash_set<uint32_t>& classes);

  uint64_t methods_probed() const;
  uint64_t classes_rewritten() const;

  void AddChanges(uint64_t time_ns, proto::Chunk& chunk) override;
  void BeginFile() override;

 private:
  proto::Planner DescribeLocked() const;

  mutable std::mutex mutex_;  // guards all below
  absl::flat_hash_set<uint32_t> classes_;
  bool changed_ = false;
  uint64_t classes_rewritten_ = 0;
  uint64_t methods_seen_ = 0;
  uint64_t methods_probed_ = 0;
  classfile::ProbeCounts probes_;
  std::array<uint64_t, classfile::kReasonCount> by_reason_ = {};
};

}  // namespace jtrace::calls
