// Distinct sampled stacks, as a trie of frames: a repeated stack costs one number.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "common/call_site.h"
#include "postproc/model/ids.h"

namespace jtrace::postproc {

class StackTable {
 public:
  // `frames` root first; no frames: none. `places`: from which each calls the next one; may be
  // empty. A stack's number is greater than its callers'.
  StackId Intern(absl::Span<const FrameId> frames, absl::Span<const CallSite> places = {});

  StackId Caller(StackId id) const { return entries_[id.value - 1].caller; }
  FrameId Innermost(StackId id) const { return entries_[id.value - 1].frame; }
  // From which the caller calls the innermost frame.
  CallSite Place(StackId id) const { return entries_[id.value - 1].place; }
  // Root first.
  std::vector<FrameId> Frames(StackId id) const;
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    StackId caller;
    FrameId frame;
    CallSite place = kNoCallSite;
  };
  std::vector<Entry> entries_;
  absl::flat_hash_map<uint64_t, StackId> ids_;  // (caller, frame)
  absl::flat_hash_map<std::pair<uint64_t, CallSite>, StackId> placed_ids_;
};

}  // namespace jtrace::postproc
