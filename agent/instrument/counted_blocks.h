// blocks=on: which counters belong to which blocks, and their counts, for the trace.
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
#include "agent/classfile/instrumenter.h"
#include "agent/jvmti/open_activations.h"
#include "agent/probes/block_counters.h"
#include "agent/trace/chunk_source.h"
#include "agent/trace/record_encoder.h"

namespace jtrace {

class CountedBlocks : public trace::ChunkSource, public classfile::CounterIds {
 public:
  // All outlive this.
  CountedBlocks(BlockCounters& counters, hot::Arena* arena, trace::RecordEncoder& encoder);

  // A class with counters was made of `bytes`.
  void Add(uint32_t class_id, classfile::Bytes bytes, const classfile::InstrumentResult& result);

  // Activations at the end of the file, or of the recording: they leave their blocks there.
  void SetOpen(const std::vector<jvmti::OpenActivation>& open);

  uint32_t Take(uint32_t count) override { return counters_.Take(count); }
  // Two classes of one name have one number of calls.
  bool CountsEntries(std::string_view class_name) override;
  bool HasRoom() const { return counters_.HasRoom(); }

  void Seal(uint64_t time_ns, proto::Chunk& chunk) override;
  void EndFile(bool is_last, proto::Chunk&) override;
  void BeginFile() override;

 private:
  // A method, by its place in methods_, and where its code moved.
  struct Code {
    size_t method = 0;
    std::vector<classfile::MethodOutcome::Moved> moved;
  };
  // Class number, name and descriptor.
  using Key = std::tuple<uint32_t, std::string, std::string>;

  void WriteDefinitions(proto::Chunk& chunk);
  void WriteCounts(proto::Chunk& chunk);
  void WriteOpen(proto::Chunk& chunk);

  BlockCounters& counters_;
  hot::Arena* const arena_;
  trace::RecordEncoder& encoder_;
  std::mutex mutex_;                      // guards the next five
  absl::flat_hash_map<Key, Code> codes_;  // the present ones
  std::vector<proto::OpenActivations> open_;
  absl::flat_hash_set<std::string> names_;
  std::vector<proto::ClassCode> classes_;  // ids are places plus 1
  std::vector<proto::MethodCounters> methods_;
  // The writer thread's.
  size_t classes_written_ = 0;
  size_t methods_written_ = 0;
  std::vector<uint64_t> before_file_;  // counts by id
  std::vector<uint64_t> written_;      // as in the file
  uint64_t counted_ns_ = 0;
  bool is_due_ = false;
  bool ends_ = false;  // the file's last counts are due
  std::vector<proto::OpenActivations> open_before_file_;
};

}  // namespace jtrace
