// What the probe planner did, in numbers (S2.1): written into the trace as it changes.
// Count on any Java thread; Seal on the writer thread.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

#include "agent/classfile/instrumenter.h"
#include "agent/writer/chunk_source.h"

namespace jtrace {

class PlannerTotals : public writer::ChunkSource {
 public:
  // A class with methods in scope went through the rewriter.
  void Count(const classfile::InstrumentResult& result);

  uint64_t methods_probed() const;
  uint64_t classes_rewritten() const;

  void Seal(uint64_t time_ns, proto::Chunk& chunk) override;
  void BeginFile() override;

 private:
  proto::Planner DescribeLocked() const;

  mutable std::mutex mutex_;  // guards all below
  bool changed_ = false;
  uint64_t classes_seen_ = 0;
  uint64_t classes_rewritten_ = 0;
  uint64_t methods_seen_ = 0;
  uint64_t methods_probed_ = 0;
  classfile::ProbeCounts probes_;
  std::array<uint64_t, classfile::kReasonCount> by_reason_ = {};
};

}  // namespace jtrace
