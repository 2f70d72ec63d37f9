// blocks=on, blocks=paths: numbers the counters of blocks, and writes their counts into the trace.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "agent/base/losses.h"
#include "agent/calls/classfile/class_rewriter.h"
#include "agent/calls/instrument/counted_bytecode.h"
#include "agent/calls/instrument/open_activation_writer.h"
#include "agent/calls/trees/basic_block_counters.h"
#include "agent/calls/trees/tree_collector.h"
#include "agent/jvm/running_stacks.h"
#include "agent/trace/chunk_source.h"
#include "agent/trace/record_encoder.h"

namespace jtrace::calls {

// Counts are written every five seconds, at a flush and at the end of a file. Add, and the
// functions of CounterIds, on any thread that rewrites a class; the rest on the writer thread.
class BlockCountSource : public trace::ChunkSource, public classfile::CounterIds {
 public:
  // All outlive this. `trees`: the trees in which blocks=paths counts blocks by call path; null:
  // there are no trees.
  BlockCountSource(BasicBlockCounters& counters, signal_safe::Arena* arena, TreeCollector* trees,
                   trace::RecordEncoder& encoder, Losses& losses);

  bool is_by_path() const { return paths_ != nullptr; }

  // Registers the counters of a rewritten class. `bytes`: its class file before rewriting.
  void Add(uint32_t class_id, classfile::Bytes bytes, const classfile::RewriteResult& result);

  // See CountedBytecode. Any thread.
  uint32_t OriginalBci(uint32_t routine, uint32_t bci) const {
    return code_.OriginalBci(routine, bci);
  }
  // Sets the activations that are in the middle of a block, before a flush or the end of the file
  // (OpenActivationWriter). Any thread.
  void SetOpen(const std::vector<jvm::OpenActivation>& open) { open_.Set(open); }

  uint32_t NewIds(uint32_t count) override { return counters_.NewIds(count); }
  // Code of a class whose name was seen before may share its routines: see CounterIds.
  bool NeedsEntryCounters(std::string_view class_name) override {
    return code_.HasSeen(class_name);
  }
  bool HasRoom() const { return counters_.HasRoom(); }

  void AddChanges(uint64_t time_ns, proto::Chunk& chunk) override;
  void Flush() override { Request(/*ends_file=*/false); }
  void EndFile(bool, proto::Chunk&) override { Request(/*ends_file=*/true); }
  void BeginFile() override;

 private:
  // Makes the next chunk contain all counts.
  void Request(bool ends_file);
  void WriteCounts(proto::Chunk& chunk);
  void WritePaths(proto::Chunk& chunk);

  BasicBlockCounters& counters_;
  signal_safe::Arena* const arena_;
  PathBlocks* const paths_;  // null: not by path
  Losses& losses_;
  CountedBytecode code_;
  OpenActivationWriter open_;
  std::vector<uint64_t> before_file_;  // by id: counts from before this file
  std::vector<uint64_t> written_;      // by id: counts that this file has
  uint64_t counted_ns_ = 0;
  bool is_due_ = false;
};

}  // namespace jtrace::calls
