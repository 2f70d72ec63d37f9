#include "postproc/export/export_frames.h"

#include <limits>
#include <string_view>

#include "postproc/model/frame_name.h"

namespace jtrace::postproc {
namespace {

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
constexpr std::string_view kJava = "[java]";

// "a.B" of "a.B.run(int)"; "" if there is none.
std::string_view ClassOf(std::string_view routine) {
  const std::string_view name = WithoutParameters(routine);
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
}

// By routine, a frame that shows the origin of its code; none if it was not sampled.
std::vector<FrameId> FramesOfRoutines(const TraceModel& model) {
  std::vector<FrameId> frames(model.routine_count() + 1);
  for (uint32_t i = 1; i <= model.frame_count(); ++i) {
    const Frame& it = model.frame(FrameId(i));
    FrameId& frame = frames[it.routine.value];
    if (!frame && it.origin != Origin::kNone) frame = FrameId(i);
  }
  return frames;
}

ExportFrame FrameOfRoutine(const TraceModel& model, RoutineId routine, FrameId sampled) {
  ExportFrame frame;
  frame.name = model.RoutineName(routine);
  frame.module = sampled ? model.ModuleOf(model.frame(sampled)) : kJava;
  if (!sampled || IsJava(model.frame(sampled).origin)) frame.source = ClassOf(frame.name);
  if (frame.source.empty()) frame.source = frame.module;
  if (frame.name.empty()) frame.name = "[no name]";
  return frame;
}

}  // namespace

ExportFrames::ExportFrames(const ReportInput& input)
    : of_routine_(input.model.routine_count() + 1, kNone),
      of_thread_(input.model.thread_count() + 1, kNone) {
  const std::vector<FrameId> sampled = FramesOfRoutines(input.model);
  for (uint32_t i = 1; i <= input.tree.size(); ++i) {
    const CallNode& node = input.tree.node(NodeId(i));
    uint32_t& index =
        node.routine ? of_routine_[node.routine.value] : of_thread_[node.thread.value];
    if (index != kNone) continue;
    index = static_cast<uint32_t>(frames_.size());
    if (node.routine) {
      frames_.push_back(FrameOfRoutine(input.model, node.routine, sampled[node.routine.value]));
    } else {
      const std::string& name = input.model.thread(node.thread).name;
      frames_.push_back({name.empty() ? "[no name]" : name, "[threads]", std::string(kJava)});
    }
  }
}

PlacedFrames::PlacedFrames(const ReportInput& input, const ExportFrames& frames) {
  for (uint32_t i = 0; i < frames.frames().size(); ++i) all_.push_back({i});
  if (!input.tree.has_places()) return;
  for (uint32_t i = 1; i <= input.tree.size(); ++i) {
    const CallNode& node = input.tree.node(NodeId(i));
    if (node.place == kNoCallSite) continue;
    const uint32_t caller = frames.Of(input.tree.node(node.parent));
    const auto next = static_cast<uint32_t>(all_.size());
    if (number_.try_emplace({caller, node.place}, next).second)
      all_.push_back({caller, node.place});
  }
}

}  // namespace jtrace::postproc
