// Distinct sampled stacks, as a trie of frames: a repeated stack costs one number.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "postproc/model/ids.h"

namespace jtrace::postproc {

class StackTable {
 public:
  // `frames` root first; no frames: none. A stack's number is greater than its callers'.
  StackId Intern(absl::Span<const FrameId> frames);

  StackId Caller(StackId id) const { return entries_[id.value - 1].caller; }
  FrameId Innermost(StackId id) const { return entries_[id.value - 1].frame; }
  // Root first.
  std::vector<FrameId> Frames(StackId id) const;
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    StackId caller;
    FrameId frame;
  };
  std::vector<Entry> entries_;
  absl::flat_hash_map<uint64_t, StackId> ids_;  // (caller, frame)
};

}  // namespace jtrace::postproc
