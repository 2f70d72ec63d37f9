#include "postproc/reader/sample_frames.h"

#include <algorithm>
#include <limits>
#include <string>

#include "postproc/support/strings.h"

namespace jtrace::postproc {

void SampleFrames::Begin(const proto::Chunk& chunk) {
  chunk_ = &chunk;
  chunk_frames_.assign(static_cast<size_t>(chunk.frame_size()), FrameId());
  chunk_natives_.assign(static_cast<size_t>(chunk.frame_size()), Native());
  has_places_ = std::any_of(chunk.frame().begin(), chunk.frame().end(),
                            [](const proto::Frame& frame) { return frame.place() != 0; });
}

void SampleFrames::Read(const proto::Sample& sample, int64_t time, std::vector<FrameId>& frames,
                        std::vector<CallSite>& places) {
  NativeSymbols& native = definitions_.native();
  frames.clear();
  places.clear();
  bool is_caller = false;  // a frame of the program, from which it calls, is inside
  NativePlace* callee = nullptr;
  for (const uint32_t index : sample.frame()) {
    const bool is_native = index < chunk_frames_.size() &&
                           chunk_->frame(static_cast<int>(index)).kind() == proto::Frame::NATIVE;
    if (!is_native) {
      frames.push_back(FrameAt(index));
      if (has_places_ && index < chunk_frames_.size()) {
        places.resize(frames.size());
        places.back() = CheckedCallSite(chunk_->frame(static_cast<int>(index)).place());
      }
      is_caller |= model_.frame(frames.back()).origin != Origin::kKernel;
      callee = nullptr;
      continue;
    }
    const NativeSymbols::Found found = NativeAt(index, is_caller, time);
    if (callee != nullptr && found.place != nullptr) {
      const FrameId start = native.ThreadStart(*callee, *found.place, model_);
      if (start) frames.back() = start;
      const FrameId between = native.TailCaller(*callee, *found.place, model_);
      if (between) frames.push_back(between);
    }
    frames.push_back(found.frame);
    callee = found.place;
    // Code that a signal interrupted had called nothing.
    is_caller = callee == nullptr || !callee->function.is_signal_frame;
  }
  if (has_places_) places.resize(frames.size());
}

std::optional<uint16_t> SampleFrames::InnermostBci(const proto::Sample& sample) const {
  if (sample.frame_size() == 0) return std::nullopt;
  const uint32_t index = sample.frame(0);
  if (index >= chunk_frames_.size()) return std::nullopt;
  const proto::Frame& frame = chunk_->frame(static_cast<int>(index));
  const bool is_java = frame.kind() == proto::Frame::INTERPRETED ||
                       frame.kind() == proto::Frame::COMPILED ||
                       frame.kind() == proto::Frame::INLINED;
  constexpr uint32_t kMost = std::numeric_limits<uint16_t>::max();
  if (!is_java || frame.bci() == 0 || frame.bci() - 1 > kMost) return std::nullopt;
  return static_cast<uint16_t>(frame.bci() - 1);
}

NativeSymbols::Found SampleFrames::NativeAt(uint32_t index, bool is_caller, int64_t time) {
  Native& last = chunk_natives_[index];
  const AddressRange* range = last.found.range;
  const bool holds = range != nullptr && range->from <= time && time < range->to;
  if (!holds || last.is_caller != is_caller) {
    const uint64_t address = chunk_->frame(static_cast<int>(index)).value();
    last = {definitions_.native().At(address, is_caller, time, model_), is_caller};
  }
  return last.found;
}

FrameId SampleFrames::FrameAt(uint32_t index) {
  if (index >= chunk_frames_.size()) {
    stats_.Add(Problem::kUndefinedReference);
    return FrameOf(proto::Frame::default_instance());
  }
  FrameId& known = chunk_frames_[index];
  if (!known) known = FrameOf(chunk_->frame(static_cast<int>(index)));
  return known;
}

FrameId SampleFrames::MakeFrame(Origin origin, std::string_view module, std::string_view name) {
  Frame made;
  made.origin = origin;
  if (!module.empty()) made.module = model_.InternModule(module);
  made.routine = model_.InternRoutine(name);
  return model_.InternFrame(made);
}

FrameId SampleFrames::FrameOf(const proto::Frame& frame) {
  const auto number = static_cast<uint32_t>(frame.value());
  const auto java = [&](Origin origin) {
    return model_.InternFrame({definitions_.Method(number), ModuleId(), origin});
  };
  switch (frame.kind()) {
    case proto::Frame::INTERPRETED:
      return java(Origin::kInterpreted);
    case proto::Frame::COMPILED:
      return java(Origin::kCompiled);
    case proto::Frame::INLINED:
      return java(Origin::kInlined);
    case proto::Frame::STUB:
      return MakeFrame(Origin::kVm, "[stubs]", number == 0 ? "[stub]" : definitions_.Text(number));
    case proto::Frame::KERNEL:
      return MakeFrame(Origin::kKernel, "", number == 0 ? "[kernel]" : definitions_.Text(number));
    case proto::Frame::MARKER: {
      // A marker has no prefix, so its text must not look like one.
      const std::string text = number == 0 ? "[marker]" : definitions_.Text(number);
      return MakeFrame(Origin::kNone, "", text.starts_with("[") ? text : StrCat("[", text, "]"));
    }
    default:
      return MakeFrame(Origin::kNone, "", "[unknown frame]");
  }
}

}  // namespace jtrace::postproc
