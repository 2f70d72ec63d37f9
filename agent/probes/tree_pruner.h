// Selects the part of a thread's tree to drop when memory is short (S3.14).
#pragma once

#include <cstdint>
#include <vector>

#include "agent/hot/layout.h"

namespace jtrace {

// Selects subtrees with less than a share of their parent's calls, in which nothing was called
// lately and from which no call folds. Fed with the nodes in order of creation, parents first. On
// the writer thread only.
class TreePruner {
 public:
  // Before any node of the thread is read.
  void Begin(const hot::ThreadState& state);
  void Add(hot::Ref ref, const hot::Node& node, uint64_t calls, bool changed);
  // As hot::Victims; empty if nothing is to be dropped.
  std::vector<uint32_t> Choose(double percent);

 private:
  struct Entry {
    hot::Ref ref;
    uint32_t parent;  // index
    uint64_t cum;     // calls of the subtree
    bool kept;        // it must not be pruned
    bool cut;         // it is dropped, with or below a victim
  };

  uint32_t folds_ = 0;  // Victims::folds
  hot::Ref root_ = 0;
  hot::Ref pruned_ = 0;  // the root's [pruned] node: the thread uses it without a search
  // The node's place in entries_; 0: it was not added.
  uint32_t PlaceOf(hot::Ref ref) const;

  std::vector<Entry> entries_;
  // By Ref. What earlier rounds left is recognized by the entry, which has another Ref.
  std::vector<uint32_t> places_;
};

}  // namespace jtrace
