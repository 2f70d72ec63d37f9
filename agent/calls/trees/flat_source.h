// record=flat: writes the threads' counters into a chunk. Writer thread only.
#pragma once

#include <cstdint>
#include <utility>

#include "agent/calls/trees/call_kinds.h"
#include "agent/calls/trees/flat_collector.h"
#include "agent/jvm/thread_registry.h"
#include "agent/jvm/thread_tree_groups.h"
#include "agent/trace/chunk_source.h"

namespace jtrace::calls {

class FlatSource : public trace::ChunkSource {
 public:
  FlatSource(FlatCollector& collector, jvm::ThreadRegistry& threads, jvm::ThreadTreeGroups& groups,
             trace::RecordEncoder& encoder, CallKinds kinds = CallKinds())
      : collector_(collector),
        threads_(threads),
        groups_(groups),
        encoder_(encoder),
        kinds_(std::move(kinds)) {}
  void AddChanges(uint64_t time_ns, proto::Chunk& chunk) override;
  void BeginFile() override { collector_.BeginFile(); }

 private:
  FlatCollector& collector_;
  jvm::ThreadRegistry& threads_;
  jvm::ThreadTreeGroups& groups_;
  trace::RecordEncoder& encoder_;
  CallKinds kinds_;
};

// Writes the counters of a thread, or of a group, by its number in the trace; defines the routines.
void EncodeFlat(const FlatUpdate& update, const CallKinds& kinds, uint32_t thread,
                trace::RecordEncoder& encoder, proto::Chunk& chunk);

}  // namespace jtrace::calls
