// Reads, writes, connects and accepts (0x63), by what they were on.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "postproc/model/record_visitor.h"

namespace jtrace::postproc {

class IoLog : public RecordVisitor {
 public:
  using Name = std::pair<std::string, std::string>;  // "read", and a file or a peer
  struct Total {
    int64_t calls = 0;
    int64_t failed = 0;  // of these; or they would have had to wait
    int64_t bytes = 0;
    int64_t time = 0;     // in the trace's unit
    int64_t longest = 0;  // the same
    absl::flat_hash_set<ThreadId> threads;
  };

  void OnCalls(ThreadId, absl::Span<const CallRecord>) override {}
  void OnReducedCalls(ThreadId, const ReducedCalls&,
                      absl::FunctionRef<void(RecordVisitor&)>) override {}
  void OnNotice(At at, std::string_view op, absl::Span<const std::string> args) override;

  // Calls whose begin and end are in the trace.
  const absl::btree_map<Name, Total>& totals() const { return totals_; }

 private:
  struct Begun {
    Name name;
    int64_t time = 0;
  };

  void End(At at, std::string_view kind, absl::Span<const std::string> args);

  absl::flat_hash_map<ThreadId, Begun> begun_;
  absl::btree_map<Name, Total> totals_;
};

}  // namespace jtrace::postproc
