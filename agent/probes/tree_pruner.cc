#include "agent/probes/tree_pruner.h"

namespace jtrace {

void TreePruner::Begin(const hot::ThreadState& state) {
  folds_ = hot::ReadAcquire(state.folds) + hot::ReadAcquire(state.cuts_made);
  pruned_ = hot::ReadAcquire(state.pruned);
  root_ = state.root;
  entries_.clear();
  entries_.push_back({state.root, 0, 0, true, false});
}

uint32_t TreePruner::PlaceOf(hot::Ref ref) const {
  const uint32_t place = ref < places_.size() ? places_[ref] : 0;
  return place < entries_.size() && entries_[place].ref == ref ? place : 0;
}

void TreePruner::Add(hot::Ref ref, const hot::Node& node, uint64_t calls, bool changed) {
  const uint32_t parent = PlaceOf(node.parent);
  if (parent == 0 && node.parent != root_) return;
  const bool folds = (hot::ReadRelaxed(node.marks) & hot::kMarkFolds) != 0;
  const bool kept = changed || folds || ref == pruned_;
  if (ref >= places_.size()) places_.resize(ref + ref / 4 + 1);
  places_[ref] = static_cast<uint32_t>(entries_.size());
  entries_.push_back({ref, parent, calls, kept, false});
}

std::vector<uint32_t> TreePruner::Choose(double percent) {
  for (size_t i = entries_.size() - 1; i > 0; --i) {
    Entry& parent = entries_[entries_[i].parent];
    parent.cum += entries_[i].cum;
    parent.kept |= entries_[i].kept;
  }
  std::vector<uint32_t> victims = {folds_, 0};
  for (size_t i = 1; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    const Entry& parent = entries_[entry.parent];
    entry.cut = parent.cut;
    if (entry.cut || entry.kept) continue;
    if (static_cast<double>(entry.cum) * 100 >= percent * static_cast<double>(parent.cum)) continue;
    entry.cut = true;
    victims.push_back(entry.ref);
  }
  victims[1] = static_cast<uint32_t>(victims.size() - 2);
  if (victims[1] == 0) victims.clear();
  return victims;
}

}  // namespace jtrace
