// Where sampled threads waited (timer=wall): by their state and the application's call that led to
// it.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "postproc/model/record_visitor.h"
#include "postproc/model/trace_model.h"

namespace jtrace::postproc {

// A frame is the application's if it is Java code in the trace's scope or, if the trace names no
// scope, not the JDK's own. The sample says what a thread waits on; otherwise, for monitors, the
// trace's records of them (0x61).
class WaitLog : public RecordVisitor {
 public:
  struct Place {
    SampleState state = SampleState::kUnknown;
    std::string_view on;    // the class of the object; "": none, or unknown
    std::string_view call;  // what the site called; without a site, the innermost frame
    std::string_view site;  // the application's innermost frame; "": there is none
    auto operator<=>(const Place&) const = default;
  };
  struct Total {
    int64_t ticks = 0;
    int64_t samples = 0;
    absl::flat_hash_set<ThreadId> threads;
  };

  explicit WaitLog(const TraceModel& model) : model_(model) {}

  void OnCalls(ThreadId, absl::Span<const CallRecord>) override {}
  void OnReducedCalls(ThreadId, const ReducedCalls&,
                      absl::FunctionRef<void(RecordVisitor&)>) override {}
  void OnSample(At at, const SampleRecord& sample) override;
  void OnNotice(At at, std::string_view op, absl::Span<const std::string> args) override;

  const absl::btree_map<Place, Total>& places() const { return places_; }
  // Ticks of all samples, including those of running threads.
  int64_t ticks() const { return ticks_; }

 private:
  bool IsApplication(FrameId frame) const;
  std::string_view BlockerOf(ThreadId thread, const SampleRecord& sample) const;

  const TraceModel& model_;
  StringPool<ClassId> classes_;                               // names that places refer to
  absl::flat_hash_map<ThreadId, std::string_view> monitors_;  // that threads wait for now
  absl::btree_map<Place, Total> places_;
  int64_t ticks_ = 0;
};

}  // namespace jtrace::postproc
