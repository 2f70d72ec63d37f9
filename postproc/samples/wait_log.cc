#include "postproc/samples/wait_log.h"

#include "postproc/calltree/call_tree.h"

namespace jtrace::postproc {
namespace {

bool NamesMonitor(SampleState state) {
  return state == SampleState::kMonitor || state == SampleState::kObjectWait;
}

}  // namespace

bool WaitLog::IsApplication(FrameId id) const {
  const Frame& frame = model_.frame(id);
  const std::string_view name = model_.RoutineName(frame.routine);
  return !name.starts_with('[') && model_.InScope(frame);
}

std::string_view WaitLog::BlockerOf(ThreadId thread, const SampleRecord& sample) const {
  if (sample.blocker) return model_.ClassName(sample.blocker);
  if (!NamesMonitor(sample.state)) return {};
  const auto monitor = monitors_.find(thread);
  return monitor != monitors_.end() ? monitor->second : std::string_view();
}

void WaitLog::OnSample(At at, const SampleRecord& sample) {
  if (sample.is_unwind) return;
  ticks_ = WrapAdd(ticks_, sample.weight);
  if (sample.state == SampleState::kRunning) return;
  Place place;
  place.state = sample.state;
  place.on = BlockerOf(at.thread, sample);
  for (size_t i = sample.frames.size(); i-- > 0;) {
    if (!IsApplication(sample.frames[i])) continue;
    place.site = model_.RoutineName(model_.frame(sample.frames[i]).routine);
    break;
  }
  for (size_t i = sample.frames.size(); i-- > 0;) {
    const std::string_view name = model_.RoutineName(model_.frame(sample.frames[i]).routine);
    if (name == place.site) break;
    place.call = name;
  }
  if (place.site.empty() && !sample.frames.empty()) {
    place.call = model_.RoutineName(model_.frame(sample.frames.back()).routine);
  }
  Total& total = places_[place];
  total.ticks = WrapAdd(total.ticks, sample.weight);
  ++total.samples;
  total.threads.insert(at.thread);
}

void WaitLog::OnNotice(At at, std::string_view op, absl::Span<const std::string> args) {
  if (op == "monitor-contended" || op == "monitor-wait") {
    if (!args.empty()) monitors_[at.thread] = classes_.Text(classes_.Intern(args[0]));
  } else if (op == "monitor-entered" || op == "monitor-waited") {
    monitors_.erase(at.thread);
  }
}

}  // namespace jtrace::postproc
