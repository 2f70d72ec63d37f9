#include "agent/instrument/counted_blocks.h"

#include <algorithm>

namespace jtrace {
namespace {

// A killed program loses the counts of so long.
constexpr uint64_t kCountPeriodNs = 5'000'000'000;
// In one record.
constexpr int kMostCounts = 100'000;

}  // namespace

CountedBlocks::CountedBlocks(BlockCounters& counters, hot::Arena* arena)
    : counters_(counters), arena_(arena), before_file_(counters.Collect(arena)) {}

bool CountedBlocks::CountsEntries(std::string_view class_name) {
  const std::lock_guard lock(mutex_);
  return !names_.insert(std::string(class_name)).second;
}

void CountedBlocks::Add(uint32_t class_id, classfile::Bytes bytes,
                        const classfile::InstrumentResult& result) {
  const auto has_blocks = [](const auto& outcome) { return outcome.has_blocks; };
  if (std::none_of(result.methods.begin(), result.methods.end(), has_blocks)) return;
  const std::lock_guard lock(mutex_);
  proto::ClassCode& code = classes_.emplace_back();
  code.set_id(static_cast<uint32_t>(classes_.size()));
  code.set_class_id(class_id);
  code.set_code(bytes.data(), bytes.size());
  for (const classfile::MethodOutcome& outcome : result.methods) {
    if (!outcome.has_blocks) continue;
    proto::MethodCounters& method = methods_.emplace_back();
    method.set_class_code(code.id());
    method.set_method(outcome.method.index);
    method.set_routine(outcome.id);
    method.set_first_counter(outcome.first_counter);
    for (const classfile::CounterPlace& place : outcome.places) {
      method.add_place(uint32_t{place.bci} << 2 | static_cast<uint32_t>(place.kind));
    }
  }
}

void CountedBlocks::WriteDefinitions(proto::Chunk& chunk) {
  const std::lock_guard lock(mutex_);
  for (; classes_written_ < classes_.size(); ++classes_written_) {
    *chunk.add_class_code() = classes_[classes_written_];
  }
  for (; methods_written_ < methods_.size(); ++methods_written_) {
    *chunk.add_method_counters() = methods_[methods_written_];
  }
}

// After the definitions of all counters that have counted.
void CountedBlocks::WriteCounts(proto::Chunk& chunk) {
  const std::vector<uint64_t> counts = counters_.Collect(arena_);
  before_file_.resize(counts.size());
  written_.resize(counts.size());
  proto::BlockCounts* record = nullptr;
  uint32_t last = 0;
  for (uint32_t id = 0; id < counts.size(); ++id) {
    const uint64_t count = counts[id] - before_file_[id];
    if (count == written_[id]) continue;
    written_[id] = count;
    if (record == nullptr || record->count_size() == kMostCounts) {
      record = chunk.add_block_counts();
      last = 0;
    }
    record->add_counter(static_cast<int32_t>(id - last));
    record->add_count(count);
    last = id;
  }
}

void CountedBlocks::Seal(uint64_t time_ns, proto::Chunk& chunk) {
  if (is_due_ || time_ns - counted_ns_ >= kCountPeriodNs) {
    is_due_ = false;
    counted_ns_ = time_ns;
    WriteCounts(chunk);
  }
  WriteDefinitions(chunk);
}

void CountedBlocks::EndFile(bool, proto::Chunk&) { is_due_ = true; }

void CountedBlocks::BeginFile() {
  classes_written_ = methods_written_ = 0;
  for (size_t id = 0; id < written_.size(); ++id) before_file_[id] += written_[id];
  written_.assign(written_.size(), 0);
}

}  // namespace jtrace
