// What a binary trace says about its session, as facts, counts and losses of the trace.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "postproc/model/trace_model.h"
#include "proto/trace.pb.h"

namespace jtrace::postproc {

using CodeTotals = absl::btree_map<std::pair<uint32_t, uint32_t>, proto::CodeTotal>;  // by code

using SegmentTotals = absl::btree_map<uint32_t, proto::SegmentTotal>;  // by the name's string

void AddSession(const proto::SessionStart& start, TraceInfo& trace);
void AddEnd(const proto::SessionEnd& end, TraceInfo& trace);
void AddPlanner(const proto::Planner& planner, TraceInfo& trace);
void AddCodeTotals(const CodeTotals& totals, TraceInfo& trace);
// The cost of samples: time in their handler, and their records' bytes in the file.
struct SampleSums {
  proto::SampleCost cost;
  uint64_t records = 0;
  double bytes = 0;
  uint64_t file_bytes = 0;  // of everything
};
void AddSampling(const SampleSums& sums, TraceInfo& trace);
void AddLosses(const std::vector<proto::Loss>& losses, TraceInfo& trace);

}  // namespace jtrace::postproc
