// The threads' call trees, or their flat counters, on their way into a chunk. Writer thread only.
#pragma once

#include <cstdint>

#include "agent/jvmti/thread_registry.h"
#include "agent/losses.h"
#include "agent/probes/flat_collector.h"
#include "agent/probes/tree_collector.h"
#include "agent/writer/chunk_source.h"

namespace jtrace::writer {

// record=tree.
class TreeSource : public ChunkSource {
 public:
  TreeSource(TreeCollector& collector, jvmti::ThreadRegistry& threads, Losses& losses)
      : collector_(collector), threads_(threads), losses_(losses) {}
  void Seal(uint64_t time_ns, proto::Chunk& chunk) override;
  void BeginFile() override { collector_.BeginFile(); }

 private:
  TreeCollector& collector_;
  jvmti::ThreadRegistry& threads_;
  Losses& losses_;
};

// record=flat.
class FlatSource : public ChunkSource {
 public:
  FlatSource(FlatCollector& collector, jvmti::ThreadRegistry& threads, RecordEncoder& encoder)
      : collector_(collector), threads_(threads), encoder_(encoder) {}
  void Seal(uint64_t time_ns, proto::Chunk& chunk) override;
  void BeginFile() override { collector_.BeginFile(); }

 private:
  uint32_t ThreadNumber(uint64_t java_tid);

  FlatCollector& collector_;
  jvmti::ThreadRegistry& threads_;
  RecordEncoder& encoder_;
  // Virtual threads share one set of counters, which stands for a thread of its own.
  uint32_t virtual_threads_ = 0;
};

}  // namespace jtrace::writer
