#include "postproc/reader/record_filter.h"

#include <utility>

#include "common/glob.h"

namespace jtrace::postproc {

RecordFilter::RecordFilter(std::string thread_glob, Scope scope, const TraceModel& model,
                           std::vector<RecordVisitor*> visitors)
    : thread_glob_(std::move(thread_glob)),
      scope_(scope),
      model_(model),
      visitors_(std::move(visitors)) {}

bool RecordFilter::Wants(At at) {
  if (thread_glob_.empty()) return true;
  if (!at.thread) return false;
  if (wanted_.size() <= at.thread.value) wanted_.resize(at.thread.value + size_t{1});
  int8_t& wanted = wanted_[at.thread.value];
  if (wanted == 0) wanted = GlobMatches(thread_glob_, model_.thread(at.thread).name) ? 1 : -1;
  return wanted > 0;
}

void RecordFilter::OnEnter(At at, RoutineId routine, CodeKind kind) {
  if (!Wants(at)) return;
  for (RecordVisitor* visitor : visitors_) visitor->OnEnter(at, routine, kind);
}

void RecordFilter::OnExit(At at, RoutineId routine, CodeKind kind) {
  if (!Wants(at)) return;
  for (RecordVisitor* visitor : visitors_) visitor->OnExit(at, routine, kind);
}

void RecordFilter::OnCalls(ThreadId thread, absl::Span<const CallRecord> calls) {
  if (!Wants({0, thread})) return;
  for (RecordVisitor* visitor : visitors_) visitor->OnCalls(thread, calls);
}

void RecordFilter::OnReducedCalls(ThreadId thread, const ReducedCalls& calls,
                                  absl::FunctionRef<void(RecordVisitor&)> one_by_one) {
  if (!Wants({0, thread})) return;
  for (RecordVisitor* visitor : visitors_) visitor->OnReducedCalls(thread, calls, one_by_one);
}

void RecordFilter::OnDropped(At at, int64_t events) {
  if (!Wants(at)) return;
  for (RecordVisitor* visitor : visitors_) visitor->OnDropped(at, events);
}

void RecordFilter::OnPosition(At at, absl::Span<const PathStep> path, size_t shared) {
  if (!Wants(at)) return;
  for (RecordVisitor* visitor : visitors_) visitor->OnPosition(at, path, shared);
}

void RecordFilter::OnSample(At at, const SampleRecord& sample) {
  if (!Wants(at)) return;
  SampleRecord passed = sample;
  if (scope_ == Scope::kApp) {
    frames_.clear();
    places_.clear();
    for (size_t i = 0; i < sample.frames.size(); ++i) {
      if (!model_.InScope(model_.frame(sample.frames[i]))) continue;
      frames_.push_back(sample.frames[i]);
      if (!sample.places.empty()) places_.push_back(sample.places[i]);
    }
    passed.frames = frames_;
    passed.places = places_;
    const bool same_innermost =
        !frames_.empty() && !sample.frames.empty() && frames_.back() == sample.frames.back();
    if (!same_innermost) passed.bci.reset();
  }
  for (RecordVisitor* visitor : visitors_) visitor->OnSample(at, passed);
}

void RecordFilter::OnSwitch(At at, bool on) {
  if (!Wants(at)) return;
  for (RecordVisitor* visitor : visitors_) visitor->OnSwitch(at, on);
}

void RecordFilter::OnMetric(At at, MetricId metric, int64_t delta) {
  if (!Wants(at)) return;
  for (RecordVisitor* visitor : visitors_) visitor->OnMetric(at, metric, delta);
}

void RecordFilter::OnNode(At at, const NodeCounts& counts, absl::Span<const PathStep> path,
                          size_t shared) {
  if (!Wants(at)) return;
  for (RecordVisitor* visitor : visitors_) visitor->OnNode(at, counts, path, shared);
}

void RecordFilter::OnHook(At at, const HookRecord& hook) {
  if (!Wants(at)) return;
  for (RecordVisitor* visitor : visitors_) visitor->OnHook(at, hook);
}

void RecordFilter::OnCode(At at, const CodeRecord& code) {
  if (at.thread && !Wants(at)) return;
  for (RecordVisitor* visitor : visitors_) visitor->OnCode(at, code);
}

void RecordFilter::OnNotice(At at, std::string_view op, absl::Span<const std::string> args) {
  // Blocks are counted over all threads.
  if (!IsOfBlocks(op) && !Wants(at)) return;
  for (RecordVisitor* visitor : visitors_) visitor->OnNotice(at, op, args);
}

}  // namespace jtrace::postproc
