#include "agent/calls/trees/path_blocks.h"

#include <algorithm>

namespace jtrace::calls {

using signal_safe::BlockSet;
using signal_safe::Node;

namespace {

constexpr uint32_t SizeOf(uint64_t range) { return static_cast<uint32_t>(range >> 32); }

// What a set's first id adds to Reading::sum. Counters that get new ids begin at 0 again, and
// without this their counts could reach the same sum.
constexpr uint64_t MarkOf(uint64_t first) { return first * 0x9e37'79b9'7f4a'7c15; }

// Calls f(set, range) for the sets that have counters.
template <typename F>
void ForEachSet(const signal_safe::Arena* arena, const BlockSet& head, F f) {
  for (const BlockSet* set = &head;;) {
    const uint64_t range = signal_safe::ReadAcquire(set->range);
    if (range != 0) f(*set, range);
    const signal_safe::Ref more = signal_safe::ReadAcquire(set->more);
    if (more == 0) return;
    set = signal_safe::At<BlockSet>(arena, more);
  }
}

bool AnyCount(const PathCounts::OfCode& code) {
  return std::any_of(code.counts.begin(), code.counts.end(), [](uint64_t it) { return it != 0; });
}

}  // namespace

void PathCounts::Add(const PathCounts& other) {
  out_of_memory |= other.out_of_memory;
  for (const OfCode& from : other.codes) {
    const auto into = std::find_if(codes.begin(), codes.end(),
                                   [&](const OfCode& it) { return it.first == from.first; });
    if (into == codes.end()) {
      codes.push_back(from);
      continue;
    }
    for (size_t i = 0; i < into->counts.size(); ++i) into->counts[i] += from.counts[i];
  }
}

void PathBlocks::Request(bool ends_file) {
  is_due_ = is_on();
  ends_file_ = ends_file;
}

void PathBlocks::ReadAll(const Node& node) {
  reading_ = {};
  if (!is_on()) return;
  const signal_safe::NodeBlocks& blocks = BlocksOf(node);
  const uint64_t recording = counters_->first_of_recording();
  const auto found = baselines_.find(signal_safe::RefOf(arena_, &node));
  const std::vector<uint64_t>* baseline = found != baselines_.end() ? &found->second : nullptr;
  ForEachSet(arena_, blocks.set, [&](const BlockSet& set, uint64_t range) {
    const auto* counts = reinterpret_cast<const uint64_t*>(signal_safe::ReadRelaxed(set.counts));
    PathCounts::OfCode code = {.first = static_cast<uint32_t>(range), .counts = {}};
    const size_t begin = reading_.values.size();
    const bool has_baseline =
        baseline != nullptr && begin < baseline->size() && (*baseline)[begin] == code.first;
    reading_.values.push_back(code.first);
    reading_.sum += MarkOf(code.first);
    for (uint32_t i = 0; i < SizeOf(range); ++i) {
      const uint64_t value = signal_safe::ReadRelaxed(counts[i]);
      const size_t at = reading_.values.size();
      code.counts.push_back(value - (has_baseline ? (*baseline)[at] : 0));
      reading_.values.push_back(value);
      reading_.sum += value;
    }
    if (code.first >= recording && AnyCount(code)) reading_.counts.codes.push_back(std::move(code));
  });
  reading_.counts.out_of_memory = signal_safe::ReadRelaxed(blocks.set.out_of_memory) != 0;
  reading_.sum += reading_.counts.out_of_memory ? 1 : 0;
}

void PathBlocks::KeepAsBaseline(const Node& node) {
  if (reading_.values.empty()) return;
  baselines_[signal_safe::RefOf(arena_, &node)] = reading_.values;
}

bool PathBlocks::Read(const Node& node) {
  ReadAll(node);
  const bool changed = reading_.sum != BlocksOf(node).reported;
  if (ends_file_ && !changed) KeepAsBaseline(node);
  return changed;
}

void PathBlocks::Report(Node& node, uint32_t number) {
  if (!reading_.counts.empty()) updates_.push_back({number, reading_.counts});
  const_cast<signal_safe::NodeBlocks&>(BlocksOf(node)).reported = reading_.sum;
  if (ends_file_) KeepAsBaseline(node);
}

bool PathBlocks::HasNew(const Node& node) {
  ReadAll(node);
  return !reading_.counts.empty();
}

void PathBlocks::AddToGroup(const Node& node, uint32_t number) {
  GroupSum& sum = groups_[number];
  // `unkept` alone is a change only the first time.
  sum.changed |= !reading_.counts.codes.empty() || !sum.counts.out_of_memory;
  sum.counts.Add(reading_.counts);
  KeepAsBaseline(node);
}

PathCounts PathBlocks::Remove(const Node& node) {
  ReadAll(node);
  Forget(node);
  return std::move(reading_.counts);
}

void PathBlocks::SetBaseline(Node& node) {
  if (!is_on()) return;
  ReadAll(node);
  KeepAsBaseline(node);
  const_cast<signal_safe::NodeBlocks&>(BlocksOf(node)).reported = reading_.sum;
}

std::vector<PathUpdate> PathBlocks::RemoveUpdates() {
  for (auto& [number, sum] : groups_) {
    if (std::exchange(sum.changed, false)) updates_.push_back({number, sum.counts});
  }
  std::stable_sort(updates_.begin(), updates_.end(),
                   [](const PathUpdate& a, const PathUpdate& b) { return a.node < b.node; });
  return std::exchange(updates_, {});
}

uint64_t PathBlocks::BytesOfSets(const Node& node) const {
  const signal_safe::NodeBlocks& blocks = BlocksOf(node);
  uint64_t bytes = 0;
  ForEachSet(arena_, blocks.set, [&](const BlockSet& set, uint64_t range) {
    const uint64_t counts = SizeOf(range) * sizeof(uint64_t);
    if (&set != &blocks.set) bytes += sizeof set + counts;
    if (&set == &blocks.set && SizeOf(range) > signal_safe::kNodeBlocks) bytes += counts;
  });
  return bytes;
}

}  // namespace jtrace::calls
