#include "postproc/samples/sample_log.h"

#include <algorithm>

namespace jtrace::postproc {

StackId StackTable::Intern(absl::Span<const FrameId> frames, absl::Span<const CallSite> places) {
  StackId at;
  for (size_t i = 0; i < frames.size(); ++i) {
    const CallSite place = i == 0 || places.empty() ? kNoCallSite : places[i - 1];
    const uint64_t key = uint64_t{at.value} << 32 | frames[i].value;
    StackId& id = place == kNoCallSite ? ids_[key] : placed_ids_[std::pair(key, place)];
    if (!id) {
      entries_.push_back({at, frames[i], place});
      id = StackId(static_cast<uint32_t>(entries_.size()));
    }
    at = id;
  }
  return at;
}

std::vector<FrameId> StackTable::Frames(StackId id) const {
  std::vector<FrameId> frames;
  for (; id; id = Caller(id)) frames.push_back(Innermost(id));
  std::reverse(frames.begin(), frames.end());
  return frames;
}

}  // namespace jtrace::postproc
