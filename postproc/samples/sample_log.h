// Keeps every timer sample's stack, for the reports that are only about samples (S1, FIG. 25).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "common/call_site.h"
#include "postproc/model/ids.h"
#include "postproc/model/record_visitor.h"

namespace jtrace::postproc {

// Distinct sampled stacks, as a trie of frames: a repeated stack costs one number.
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

// A timer sample.
struct LoggedSample {
  int64_t time = 0;
  int64_t weight = 1;
  ThreadId thread;
  StackId stack;  // none: a sample without frames
  SampleState state = SampleState::kRunning;
  ClassId blocker;
  LabelsId labels;
};

class SampleLog : public RecordVisitor {
 public:
  // Instrumented unwinds are not samples of time and are left out. Calls do not matter here.
  void OnCalls(ThreadId, absl::Span<const CallRecord>) override {}
  void OnReducedCalls(ThreadId, const ReducedCalls&,
                      absl::FunctionRef<void(RecordVisitor&)>) override {}
  void OnSample(At at, const SampleRecord& sample) override {
    if (sample.is_unwind) return;
    samples_.push_back({at.time, sample.weight, at.thread,
                        stacks_.Intern(sample.frames, sample.places), sample.state, sample.blocker,
                        sample.labels});
  }

  // In the order of the trace.
  const std::vector<LoggedSample>& samples() const { return samples_; }
  const StackTable& stacks() const { return stacks_; }

 private:
  std::vector<LoggedSample> samples_;
  StackTable stacks_;
};

}  // namespace jtrace::postproc
