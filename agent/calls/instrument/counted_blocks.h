// blocks=on, blocks=paths: which counters belong to which blocks, and their counts, for the trace.
//
// Add on any thread that rewrites a class; the rest on the writer thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "agent/base/losses.h"
#include "agent/calls/block_counters.h"
#include "agent/calls/classfile/instrumenter.h"
#include "agent/calls/tree_collector.h"
#include "agent/jvm/running_stacks.h"
#include "agent/trace/chunk_source.h"
#include "agent/trace/record_encoder.h"

namespace jtrace::calls {

class CountedBlocks : public trace::ChunkSource, public classfile::CounterIds {
 public:
  // All outlive this. `trees`: where blocks are counted by call path (blocks=paths).
  CountedBlocks(BlockCounters& counters, signal_safe::Arena* arena, TreeCollector* trees,
                trace::RecordEncoder& encoder, Losses& losses);

  bool is_by_path() const { return paths_ != nullptr; }

  // A class with counters was made of `bytes`.
  void Add(uint32_t class_id, classfile::Bytes bytes, const classfile::InstrumentResult& result);

  // Where the instruction of the class file is that a place in the code of a routine belongs to:
  // for probes, the one that they precede. `bci` itself of a routine without counters. Any thread.
  uint32_t OriginalBci(uint32_t routine, uint32_t bci);

  // Activations of now, before a flush or the end of the file: they leave their blocks there.
  void SetOpen(const std::vector<jvm::OpenActivation>& open);

  uint32_t Take(uint32_t count) override { return counters_.Take(count); }
  // Two classes of one name have one number of calls.
  bool CountsEntries(std::string_view class_name) override;
  bool HasRoom() const { return counters_.HasRoom(); }

  void Seal(uint64_t time_ns, proto::Chunk& chunk) override;
  void Flush() override;
  void EndFile(bool is_last, proto::Chunk&) override;
  void BeginFile() override;

 private:
  // Class number, name and descriptor.
  using Key = std::tuple<uint32_t, std::string, std::string>;

  // An activation where the program is. `node`: of the tree, as TreeCollector::TraceNode wants it,
  // which is asked at once; `number`: its answer, for this file.
  struct Open {
    uint64_t java_tid = 0;
    uint32_t routine = 0;
    uint32_t class_code = 0;
    uint32_t method = 0;
    uint32_t bci = 0;
    uint64_t node = 0;
    uint32_t number = 0;
  };

  void WriteDefinitions(proto::Chunk& chunk);
  void WriteCounts(proto::Chunk& chunk);
  void WritePaths(proto::Chunk& chunk);
  // The nodes of open activations, which the next chunk defines.
  void FindNodes();
  void NameNodes(std::vector<Open>& open);
  void WriteOpen(const std::vector<Open>& open, int64_t each, proto::Chunk& chunk);
  // Takes back the open activations that the file has.
  void ClearOpen(proto::Chunk& chunk);
  void WriteOpen(proto::Chunk& chunk);

  BlockCounters& counters_;
  signal_safe::Arena* const arena_;
  TreeCollector* const trees_;  // null: not by path
  PathBlocks* const paths_;     // the same
  trace::RecordEncoder& encoder_;
  Losses& losses_;
  std::mutex mutex_;  // guards the next seven
  // The present code of methods: places in methods_ and moves_.
  absl::flat_hash_map<Key, size_t> codes_;
  absl::flat_hash_map<uint32_t, size_t> by_routine_;
  std::vector<Open> open_;  // thread by thread, innermost first
  absl::flat_hash_set<std::string> names_;
  std::vector<proto::ClassCode> classes_;  // ids are places plus 1
  std::vector<proto::MethodCounters> methods_;
  std::vector<std::vector<classfile::MethodOutcome::Moved>> moves_;  // where each one's code moved
  // The writer thread's.
  size_t classes_written_ = 0;
  size_t methods_written_ = 0;
  std::vector<uint64_t> before_file_;  // counts by id
  std::vector<uint64_t> written_;      // as in the file
  uint64_t counted_ns_ = 0;
  bool is_due_ = false;
  bool open_is_due_ = false;  // with the next counts
  bool has_open_ = false;     // the file has open activations
  std::vector<Open> open_before_file_;
};

}  // namespace jtrace::calls
