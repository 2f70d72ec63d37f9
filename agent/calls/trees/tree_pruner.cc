#include "agent/calls/trees/tree_pruner.h"

#include <utility>

namespace jtrace::calls {

using signal_safe::ReadAcquire;
using signal_safe::ReadRelaxed;
using signal_safe::Ref;
using signal_safe::ThreadState;

namespace {

// The memory of nodes that a thread cuts off by itself is free only a round later. Until then the
// nodes that it makes in their place must not use up the rest.
constexpr uint32_t kCutsARound = 4096;

}  // namespace

void TreePruner::BeginTree(ThreadState& state) {
  AllowCuts(state, 0);
  // A log may name any node: in the ring, in an open gap, as the file's first position. New victims
  // are chosen only when the thread has cut off the last ones.
  chooses_ = is_short() && ReadRelaxed(state.log_ring) == 0 && ReadAcquire(state.victims) == 0;
  if (chooses_) BeginChoice(state);
}

void TreePruner::BeginChoice(const ThreadState& state) {
  choice_.folding_nodes = ReadAcquire(state.folding_nodes) + ReadAcquire(state.cuts_made);
  choice_.pruned = ReadAcquire(state.pruned);
  choice_.root = state.root;
  choice_.entries.clear();
  choice_.entries.push_back({state.root, 0, 0, true, false});
}

uint32_t TreePruner::IndexOf(Ref ref) const {
  const uint32_t index = ref < choice_.indexes.size() ? choice_.indexes[ref] : 0;
  return index < choice_.entries.size() && choice_.entries[index].ref == ref ? index : 0;
}

void TreePruner::AddToChoice(Ref ref, const signal_safe::Node& node) {
  const uint32_t parent = IndexOf(node.parent);
  if (parent == 0 && node.parent != choice_.root) return;
  const uint64_t calls = ReadCounts(node).calls;
  const bool folds = (ReadRelaxed(node.flags) & signal_safe::kNodeFolds) != 0;
  const bool kept = HasChanged(node, calls) || folds || ref == choice_.pruned;
  if (ref >= choice_.indexes.size()) choice_.indexes.resize(ref + ref / 4 + 1);
  choice_.indexes[ref] = static_cast<uint32_t>(choice_.entries.size());
  choice_.entries.push_back({ref, parent, calls, kept, false});
}

std::vector<uint32_t> TreePruner::Choose() {
  std::vector<Entry>& entries = choice_.entries;
  for (size_t i = entries.size() - 1; i > 0; --i) {
    Entry& parent = entries[entries[i].parent];
    parent.cum += entries[i].cum;
    parent.kept |= entries[i].kept;
  }
  std::vector<uint32_t> victims = {choice_.folding_nodes, 0};
  for (size_t i = 1; i < entries.size(); ++i) {
    Entry& entry = entries[i];
    const Entry& parent = entries[entry.parent];
    entry.cut = parent.cut;
    if (entry.cut || entry.kept) continue;
    if (static_cast<double>(entry.cum) * 100 >= percent_ * static_cast<double>(parent.cum)) {
      continue;
    }
    entry.cut = true;
    victims.push_back(entry.ref);
  }
  victims[1] = static_cast<uint32_t>(victims.size() - 2);
  if (victims[1] == 0) victims.clear();
  return victims;
}

void TreePruner::EndTree(ThreadState& state) {
  if (chooses_) {
    if (std::vector<uint32_t> chosen = Choose(); !chosen.empty()) {
      std::vector<uint32_t>& victims = requested_[&state];
      victims = std::move(chosen);
      signal_safe::WriteRelease(state.victims,
                                static_cast<uint64_t>(reinterpret_cast<uintptr_t>(victims.data())));
    }
  }
  AllowCuts(state, is_short() ? kCutsARound : 0);
}

void TreePruner::AllowCuts(ThreadState& state, uint32_t count) const {
  if (limits_.exit_percent > 0) signal_safe::WriteRelaxed(state.cuts_left, count);
}

bool TreePruner::MayHaveCut(const ThreadState& state) {
  const auto requested = requested_.find(&state);
  // If the thread has cut off its victims, the reading that follows drops them.
  const bool was_requested = requested != requested_.end();
  if (was_requested && ReadAcquire(state.victims) == 0) requested_.erase(requested);
  return was_requested || is_short() || limits_.exit_percent > 0;
}

void TreePruner::EndRound() {
  // Memory counts as short for a while longer: a program that fills it once goes on to do so, and
  // new nodes would be reported whenever there is room again, only to be dropped soon.
  constexpr int kRounds = 100;
  const uint64_t high = limits_.arena_bytes / 5 * 3;
  const bool prunes = limits_.prune_percent > 0 || limits_.exit_percent > 0;
  const bool is_full = prunes && kept_bytes_ > high;
  short_rounds_ = is_full ? kRounds : std::max(0, short_rounds_ - 1);
  // If too little was dropped, the next round drops more.
  constexpr double kMaxPercent = 50;
  const bool is_shorter = kept_bytes_ > high + high / 4;
  percent_ = !is_full ? limits_.prune_percent
                      : std::min(kMaxPercent, is_shorter ? percent_ * 2 : percent_);
  kept_bytes_ = 0;
}

}  // namespace jtrace::calls
