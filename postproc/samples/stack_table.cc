#include "postproc/samples/stack_table.h"

#include <algorithm>

namespace jtrace::postproc {

StackId StackTable::Intern(absl::Span<const FrameId> frames) {
  StackId at;
  for (const FrameId frame : frames) {
    const uint64_t key = uint64_t{at.value} << 32 | frame.value;
    auto [entry, inserted] =
        ids_.try_emplace(key, StackId(static_cast<uint32_t>(entries_.size() + 1)));
    if (inserted) entries_.push_back({at, frame});
    at = entry->second;
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
