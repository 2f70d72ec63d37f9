// The counts of a "node" in a text trace (proto/FORMAT.md).
#pragma once

#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "postproc/model/record_visitor.h"
#include "postproc/model/trace_model.h"

namespace jtrace::postproc::text {

// `field`: "calls=9,base=300,alloc.bytes=64", as it is in the line. Adds the names of metrics to
// the model. False if it is malformed.
bool ParseNodeCounts(std::string_view field, TraceModel& model, NodeCounts& counts);

// The pairs of counters of blocks: "blocks:CODE=calls", "blocks:CODE:PLACE=count" and
// "blocks:CODE:oBCI=open activations".
void ForEachBlockPair(absl::Span<const NodeBlocks> blocks,
                      absl::FunctionRef<void(std::string_view key, int64_t value)> f);

}  // namespace jtrace::postproc::text
