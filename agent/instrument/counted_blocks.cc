#include "agent/instrument/counted_blocks.h"

#include <algorithm>
#include <map>
#include <utility>

namespace jtrace {
namespace {

// A killed program loses the counts of so long.
constexpr uint64_t kCountPeriodNs = 5'000'000'000;
// In one record.
constexpr int kMostCounts = 100'000;

}  // namespace

CountedBlocks::CountedBlocks(BlockCounters& counters, hot::Arena* arena,
                             trace::RecordEncoder& encoder)
    : counters_(counters),
      arena_(arena),
      encoder_(encoder),
      before_file_(counters.Collect(arena)) {}

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
    const Key key(class_id, outcome.method.name, outcome.method.descriptor);
    codes_[key] = {methods_.size() - 1, outcome.moved};
    for (const classfile::CounterPlace& place : outcome.places) {
      method.add_place(uint32_t{place.bci} << 2 | static_cast<uint32_t>(place.kind));
    }
  }
}

void CountedBlocks::SetOpen(const std::vector<jvmti::OpenActivation>& open) {
  const std::lock_guard lock(mutex_);
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, int64_t> counts;
  for (const jvmti::OpenActivation& it : open) {
    const auto code = codes_.find(Key(it.class_id, it.name, it.descriptor));
    if (code == codes_.end()) continue;
    const auto& moved = code->second.moved;
    const auto after =
        std::upper_bound(moved.begin(), moved.end(), it.bci,
                         [](uint32_t bci, const auto& move) { return bci < move.now; });
    if (after == moved.begin()) continue;
    const auto& move = *std::prev(after);
    const proto::MethodCounters& method = methods_[code->second.method];
    ++counts[{method.class_code(), method.method(), it.bci - move.now + move.before}];
  }
  open_.clear();
  for (const auto& [place, count] : counts) {
    proto::OpenActivations& record = open_.emplace_back();
    record.set_class_code(std::get<0>(place));
    record.set_method(std::get<1>(place));
    record.set_bci(std::get<2>(place));
    record.set_count(count);
  }
}

// Those of the file's begin arrived without having been counted.
void CountedBlocks::WriteOpen(proto::Chunk& chunk) {
  const std::lock_guard lock(mutex_);
  for (const proto::OpenActivations& open : open_) *chunk.add_open_activations() = open;
  for (const proto::OpenActivations& open : open_before_file_) {
    proto::OpenActivations& begun = *chunk.add_open_activations();
    begun = open;
    begun.set_count(-open.count());
  }
}

void CountedBlocks::WriteDefinitions(proto::Chunk& chunk) {
  const std::lock_guard lock(mutex_);
  for (; classes_written_ < classes_.size(); ++classes_written_) {
    encoder_.DefineClass(classes_[classes_written_].class_id());
    *chunk.add_class_code() = classes_[classes_written_];
  }
  for (; methods_written_ < methods_.size(); ++methods_written_) {
    encoder_.DefineRoutines({methods_[methods_written_].routine()});
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
    if (ends_) WriteOpen(chunk);
  }
  WriteDefinitions(chunk);
}

void CountedBlocks::EndFile(bool, proto::Chunk&) { is_due_ = ends_ = true; }

void CountedBlocks::BeginFile() {
  ends_ = false;
  classes_written_ = methods_written_ = 0;
  {
    const std::lock_guard lock(mutex_);
    open_before_file_ = std::exchange(open_, {});
  }
  for (size_t id = 0; id < written_.size(); ++id) before_file_[id] += written_[id];
  written_.assign(written_.size(), 0);
}

}  // namespace jtrace
