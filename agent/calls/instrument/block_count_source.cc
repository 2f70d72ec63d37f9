#include "agent/calls/instrument/block_count_source.h"

#include <algorithm>

namespace jtrace::calls {
namespace {

// A killed program loses at most the counts of this period.
constexpr uint64_t kCountPeriodNs = 5'000'000'000;
// Counts in one record.
constexpr int kMaxCounts = 100'000;

TreeCollector* IfByPath(TreeCollector* trees) {
  return trees != nullptr && trees->path_blocks().is_on() ? trees : nullptr;
}

}  // namespace

BlockCountSource::BlockCountSource(BasicBlockCounters& counters, signal_safe::Arena* arena,
                                   TreeCollector* trees, trace::RecordEncoder& encoder,
                                   Losses& losses)
    : counters_(counters),
      arena_(arena),
      paths_(IfByPath(trees) != nullptr ? &trees->path_blocks() : nullptr),
      losses_(losses),
      code_(encoder),
      open_(code_, IfByPath(trees)),
      before_file_(counters.Collect(arena)) {
  counters_.BeginRecording();
}

void BlockCountSource::Add(uint32_t class_id, classfile::Bytes bytes,
                           const classfile::RewriteResult& result) {
  const auto has_blocks = [](const auto& outcome) { return outcome.has_blocks; };
  if (std::none_of(result.methods.begin(), result.methods.end(), has_blocks)) return;
  code_.Add(class_id, bytes, result, is_by_path());
  for (const classfile::MethodOutcome& outcome : result.methods) {
    if (!outcome.has_blocks) continue;
    const auto count =
        std::count_if(outcome.counters.begin(), outcome.counters.end(), classfile::IsCounter);
    counters_.SetOwner(outcome.first_counter, static_cast<uint32_t>(count), outcome.id,
                       outcome.is_leaf);
  }
}

// Called before WriteDefinitions, so that all counters which have counted are defined in time.
void BlockCountSource::WriteCounts(proto::Chunk& chunk) {
  const std::vector<uint64_t> counts = counters_.Collect(arena_);
  before_file_.resize(counts.size());
  written_.resize(counts.size());
  proto::BlockCounts* record = nullptr;
  uint32_t last = 0;
  for (uint32_t id = 0; id < counts.size(); ++id) {
    const uint64_t count = counts[id] - before_file_[id];
    if (count == written_[id]) continue;
    written_[id] = count;
    if (record == nullptr || record->count_size() == kMaxCounts) {
      record = chunk.add_block_counts();
      last = 0;
    }
    record->add_counter(static_cast<int32_t>(id - last));
    record->add_count(count);
    last = id;
  }
}

void BlockCountSource::WritePaths(proto::Chunk& chunk) {
  proto::NodeBlocks* record = nullptr;
  uint32_t last_node = 0, last_counter = 0;
  const auto add = [&](uint32_t node, uint32_t first, const std::vector<uint64_t>& counts) {
    if (record == nullptr || record->count_size() >= kMaxCounts) {
      record = chunk.add_node_blocks();
      last_node = last_counter = 0;
    }
    record->add_node(static_cast<int32_t>(node - last_node));
    record->add_first_counter(static_cast<int32_t>(first - last_counter));
    record->add_counters(static_cast<uint32_t>(counts.size()));
    for (const uint64_t count : counts) record->add_count(count);
    last_node = node;
    last_counter = first;
  };
  for (const PathUpdate& update : paths_->RemoveUpdates()) {
    for (const PathCounts::OfCode& code : update.counts.codes) {
      add(update.node, code.first, code.counts);
    }
    if (update.counts.out_of_memory) add(update.node, last_counter, {});
  }
  losses_.Set(
      "blocks.unkept_paths", Severity::kWarning, counters_.out_of_memory(),
      "call paths whose blocks are counted by method only, because memory= was used up",
      "give more memory (memory=), count fewer methods (include=com.acme.**), or blocks=on");
}

void BlockCountSource::AddChanges(uint64_t time_ns, proto::Chunk& chunk) {
  if (paths_ != nullptr) WritePaths(chunk);
  if (is_due_ || time_ns - counted_ns_ >= kCountPeriodNs) {
    is_due_ = false;
    counted_ns_ = time_ns;
    WriteCounts(chunk);
    open_.Write(chunk);
    // The tree collector reads the counts at nodes together with their calls, in its next round.
    if (paths_ != nullptr) paths_->Request(/*ends_file=*/false);
  }
  code_.WriteDefinitions(chunk);
}

void BlockCountSource::Request(bool ends_file) {
  is_due_ = true;
  open_.Request();
  if (paths_ != nullptr) paths_->Request(ends_file);
}

void BlockCountSource::BeginFile() {
  code_.BeginFile();
  open_.BeginFile();
  for (size_t id = 0; id < written_.size(); ++id) before_file_[id] += written_[id];
  written_.assign(written_.size(), 0);
}

}  // namespace jtrace::calls
