#include "agent/samples/sample_corrector.h"

#include <span>

namespace jtrace::samples {

void SampleCorrector::Correct(const SampleView& view,
                              absl::FunctionRef<void(const SampleView&)> take) {
  const UncheckedFrame& frame = view.header.unchecked;
  const std::span frames(view.frames, view.header.frame_count);
  const bool is_marked = check_ != nullptr && frame.pc != 0 && frame.first < frames.size();
  if (!is_marked || !check_->Correct(frame, &methods_)) return take(view);
  // Instrumented unwinds have whole stacks in each mode.
  const bool is_one = keeps_one_ && !view.header.is_unwind;
  const bool is_whole = !is_one && frame.first + frame.count <= frames.size();
  if (!is_whole) methods_.resize(1);
  const std::span rest =
      is_whole ? frames.subspan(frame.first + frame.count) : std::span<const Frame>();
  frames_.assign(frames.begin(), frames.begin() + frame.first);
  frames_.insert(frames_.end(), methods_.begin(), methods_.end());
  frames_.insert(frames_.end(), rest.begin(), rest.end());
  SampleHeader header = view.header;
  header.frame_count = static_cast<uint32_t>(frames_.size());
  take({header, view.thread_slot, frames_.data()});
}

}  // namespace jtrace::samples
