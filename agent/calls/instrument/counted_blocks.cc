#include "agent/calls/instrument/counted_blocks.h"

#include <algorithm>
#include <map>
#include <utility>

#include "agent/calls/tree_values.h"

namespace jtrace::calls {
namespace {

// A killed program loses the counts of so long.
constexpr uint64_t kCountPeriodNs = 5'000'000'000;
// In one record.
constexpr int kMostCounts = 100'000;

}  // namespace

CountedBlocks::CountedBlocks(BlockCounters& counters, signal_safe::Arena* arena,
                             TreeCollector* trees, trace::RecordEncoder& encoder, Losses& losses)
    : counters_(counters),
      arena_(arena),
      trees_(trees),
      paths_(trees != nullptr ? trees->path_blocks() : nullptr),
      encoder_(encoder),
      losses_(losses),
      before_file_(counters.Collect(arena)) {
  counters_.BeginRecording();
}

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
    method.set_by_path(is_by_path());
    const Key key(class_id, outcome.method.name, outcome.method.descriptor);
    codes_[key] = by_routine_[outcome.id] = methods_.size() - 1;
    moves_.push_back(outcome.moved);
    uint32_t count = 0;
    for (const classfile::CounterPlace& place : outcome.places) {
      method.add_place(uint32_t{place.bci} << 2 | static_cast<uint32_t>(place.kind));
      count += classfile::IsCounter(place) ? 1 : 0;
    }
    counters_.SetOwner(outcome.first_counter, count, outcome.id, outcome.is_leaf);
  }
}

uint32_t CountedBlocks::OriginalBci(uint32_t routine, uint32_t bci) {
  const std::lock_guard lock(mutex_);
  const auto code = by_routine_.find(routine);
  if (code == by_routine_.end()) return bci;
  const auto& moved = moves_[code->second];
  const auto after = std::upper_bound(
      moved.begin(), moved.end(), bci,
      [](uint32_t at, const classfile::MethodOutcome::Moved& move) { return at < move.now; });
  const uint32_t next = after == moved.end() ? classfile::kMaxU2 : after->before;
  if (after == moved.begin()) return moved.empty() ? bci : next;
  const auto& move = *std::prev(after);
  return std::min(bci - move.now + move.before, next);
}

void CountedBlocks::SetOpen(const std::vector<jvm::OpenActivation>& open) {
  const std::lock_guard lock(mutex_);
  open_.clear();
  for (const jvm::OpenActivation& it : open) {
    const auto code = codes_.find(Key(it.class_id, it.name, it.descriptor));
    if (code == codes_.end()) continue;
    const auto& moved = moves_[code->second];
    const auto after =
        std::upper_bound(moved.begin(), moved.end(), it.bci,
                         [](uint32_t bci, const auto& move) { return bci < move.now; });
    if (after == moved.begin()) continue;
    const auto& move = *std::prev(after);
    const proto::MethodCounters& method = methods_[code->second];
    open_.push_back({.java_tid = it.java_tid,
                     .routine = method.routine(),
                     .class_code = method.class_code(),
                     .method = method.method(),
                     .bci = it.bci - move.now + move.before});
  }
}

void CountedBlocks::FindNodes() {
  if (paths_ == nullptr) return;
  const std::lock_guard lock(mutex_);
  for (auto begin = open_.begin(); begin != open_.end();) {
    const auto end = std::find_if(begin, open_.end(),
                                  [&](const Open& it) { return it.java_tid != begin->java_tid; });
    std::vector<uint32_t> routines;
    for (auto it = end; it != begin;) routines.push_back((--it)->routine);
    for (auto it = begin; it != end; ++it) it->node = it->number = 0;
    if (const signal_safe::ThreadState* state = trees_->FindThread(begin->java_tid);
        state != nullptr) {
      const std::vector<signal_safe::Ref> nodes = FindOpenNodes(arena_, *state, routines);
      for (auto it = end; const signal_safe::Ref node : nodes) (--it)->node = node;
    }
    begin = end;
  }
  NameNodes(open_);
}

void CountedBlocks::NameNodes(std::vector<Open>& open) {
  for (Open& it : open) it.number = it.node != 0 ? trees_->TraceNode(it.node) : 0;
}

void CountedBlocks::ClearOpen(proto::Chunk& chunk) {
  if (has_open_) chunk.add_open_activations();
  has_open_ = false;
}

void CountedBlocks::WriteOpen(const std::vector<Open>& open, int64_t each, proto::Chunk& chunk) {
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>, int64_t> counts;
  for (const Open& it : open) {
    counts[{it.class_code, it.method, it.bci, it.number}] += each;
  }
  for (const auto& [place, count] : counts) {
    proto::OpenActivations& record = *chunk.add_open_activations();
    record.set_class_code(std::get<0>(place));
    record.set_method(std::get<1>(place));
    record.set_bci(std::get<2>(place));
    record.set_node(std::get<3>(place));
    record.set_count(count);
  }
}

// Those of the file's begin arrived without having been counted.
void CountedBlocks::WriteOpen(proto::Chunk& chunk) {
  const std::lock_guard lock(mutex_);
  open_is_due_ = false;
  has_open_ = !open_.empty() || !open_before_file_.empty();
  WriteOpen(open_, 1, chunk);
  WriteOpen(open_before_file_, -1, chunk);
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

void CountedBlocks::WritePaths(proto::Chunk& chunk) {
  proto::NodeBlocks* record = nullptr;
  uint32_t last_node = 0, last_counter = 0;
  const auto add = [&](uint32_t node, uint32_t first, const std::vector<uint64_t>& counts) {
    if (record == nullptr || record->count_size() >= kMostCounts) {
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
  for (const PathUpdate& update : paths_->TakeUpdates()) {
    for (const PathCounts::OfCode& code : update.counts.codes) {
      add(update.node, code.first, code.counts);
    }
    if (update.counts.unkept) add(update.node, last_counter, {});
  }
  losses_.Set(
      "blocks.unkept_paths", Severity::kWarning, counters_.unkept(),
      "call paths whose blocks are counted by method only, because memory= was used up",
      "give more memory (memory=), count fewer methods (include=com.acme.**), or blocks=on");
}

void CountedBlocks::Seal(uint64_t time_ns, proto::Chunk& chunk) {
  if (paths_ != nullptr) WritePaths(chunk);
  if (is_due_ || time_ns - counted_ns_ >= kCountPeriodNs) {
    is_due_ = false;
    counted_ns_ = time_ns;
    WriteCounts(chunk);
    ClearOpen(chunk);
    if (open_is_due_) WriteOpen(chunk);
    // Counts of nodes are read with their calls.
    if (paths_ != nullptr) paths_->Request(/*ends_file=*/false);
  }
  WriteDefinitions(chunk);
}

void CountedBlocks::Flush() {
  is_due_ = open_is_due_ = true;
  FindNodes();
  if (paths_ != nullptr) paths_->Request(/*ends_file=*/false);
}

void CountedBlocks::EndFile(bool, proto::Chunk&) {
  is_due_ = open_is_due_ = true;
  FindNodes();
  if (paths_ != nullptr) paths_->Request(/*ends_file=*/true);
}

void CountedBlocks::BeginFile() {
  open_is_due_ = has_open_ = false;
  classes_written_ = methods_written_ = 0;
  {
    const std::lock_guard lock(mutex_);
    open_before_file_ = std::exchange(open_, {});
    // Now, while the nodes are there: their threads may end, and their memory become anything else.
    if (paths_ != nullptr) NameNodes(open_before_file_);
  }
  for (size_t id = 0; id < written_.size(); ++id) before_file_[id] += written_[id];
  written_.assign(written_.size(), 0);
}

}  // namespace jtrace::calls
