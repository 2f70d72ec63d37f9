#include "postproc/reader/record_filter.h"

#include <algorithm>
#include <utility>

#include "common/glob.h"

namespace jtrace::postproc {

RecordFilter::RecordFilter(Selection selection, const TraceModel& model,
                           std::vector<RecordVisitor*> visitors)
    : selection_(std::move(selection)), model_(model), visitors_(std::move(visitors)) {}

bool RecordFilter::HasLabels(const Labels& labels) const {
  return std::all_of(
      selection_.label_globs.begin(), selection_.label_globs.end(), [&](const auto& wanted) {
        return std::any_of(labels.begin(), labels.end(), [&](const auto& label) {
          return label.first == wanted.first && GlobMatches(wanted.second, label.second);
        });
      });
}

bool RecordFilter::WantsLabels(LabelsId labels) {
  if (selection_.label_globs.empty()) return true;
  if (!labels) return false;
  const auto [known, is_new] = wanted_labels_.try_emplace(labels);
  if (is_new) known->second = HasLabels(model_.labels(labels));
  return known->second;
}

bool RecordFilter::WantsThread(At at) {
  if (selection_.thread_glob.empty()) return true;
  if (!at.thread) return false;
  if (wanted_.size() <= at.thread.value) wanted_.resize(at.thread.value + size_t{1});
  int8_t& wanted = wanted_[at.thread.value];
  if (wanted == 0)
    wanted = GlobMatches(selection_.thread_glob, model_.thread(at.thread).name) ? 1 : -1;
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
  if (!WantsThread(at) || !WantsLabels(sample.labels)) return;
  SampleRecord passed = sample;
  if (selection_.scope == Scope::kApp) {
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

// Blocks are counted over all threads and labels, and so are segments.
bool RecordFilter::WantsNotice(At at, std::string_view op) {
  if (IsOfBlocks(op)) return selection_.label_globs.empty();
  if (op == kSegmentsOp && !selection_.label_globs.empty()) return false;
  return at.thread ? Wants(at) : selection_.thread_glob.empty();
}

void RecordFilter::OnNotice(At at, std::string_view op, absl::Span<const std::string> args) {
  if (!WantsNotice(at, op)) return;
  for (RecordVisitor* visitor : visitors_) visitor->OnNotice(at, op, args);
}

}  // namespace jtrace::postproc
