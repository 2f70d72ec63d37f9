// Waits that ended (0x64), by the thread that each was for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "absl/container/btree_map.h"
#include "postproc/model/record_visitor.h"
#include "postproc/model/string_pool.h"
#include "postproc/model/trace_model.h"

namespace jtrace::postproc {

class WaitedLog : public RecordVisitor {
 public:
  // What distinguishes rows.
  struct Wait {
    std::string waited_for;   // a thread's name, "[timed out]", "[unknown]", …
    std::string kind;         // "monitor", "wait", "join", "park"
    std::string how;          // "owned", "unowned", "unparked", "ended", …
    std::string_view waiter;  // a thread's name
    std::string on;           // the class of the object; "": none, or unknown
    std::string at;           // the routine that waited; "": none, or unknown
    std::string by;           // the routine that unparked; "": the same
    auto operator<=>(const Wait&) const = default;
  };
  struct Total {
    int64_t waits = 0;
    int64_t time = 0;     // in the trace's unit
    int64_t longest = 0;  // the same
    void Add(const Total& other);
  };

  explicit WaitedLog(const TraceModel& model) : model_(model) {}

  void OnCalls(ThreadId, absl::Span<const CallRecord>) override {}
  void OnReducedCalls(ThreadId, const ReducedCalls&,
                      absl::FunctionRef<void(RecordVisitor&)>) override {}
  void OnNotice(At at, std::string_view op, absl::Span<const std::string> args) override;

  const absl::btree_map<Wait, Total>& waits() const { return waits_; }

 private:
  const TraceModel& model_;
  StringPool<ClassId> waiters_;  // names that rows refer to
  absl::btree_map<Wait, Total> waits_;
};

}  // namespace jtrace::postproc
