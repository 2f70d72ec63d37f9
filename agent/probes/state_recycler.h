#ifndef JTRACE_AGENT_PROBES_STATE_RECYCLER_H_
#define JTRACE_AGENT_PROBES_STATE_RECYCLER_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "agent/hot/layout.h"

namespace jtrace {

// Goes through the threads' states, takes those of ended threads out of their buckets and gives
// their memory back to the probes. On the writer thread only.
class StateRecycler {
 public:
  explicit StateRecycler(hot::Arena* arena) : arena_(arena) {}

  // Calls `visit(state, ended)` for every state. Those with `ended` will not change any more, are
  // visited for the last time and stay readable until the next call: a signal handler may still
  // be looking for another state behind them, and samples may still name their nodes.
  void ForEach(absl::FunctionRef<void(hot::ThreadState&, bool ended)> visit);
  // The same without taking anything back.
  void Look(absl::FunctionRef<void(hot::ThreadState&)> visit) const;

 private:
  void VisitBucket(hot::Ref& bucket, absl::FunctionRef<void(hot::ThreadState&, bool ended)> visit);
  // Takes `state` out of the chain. `link` is what refers to it, as far as one knows.
  void Unlink(hot::Ref& bucket, hot::Ref* link, hot::ThreadState& state);
  void FreeRetired();
  void FreeChunk(hot::Chunk& chunk);

  hot::Arena* arena_;
  std::vector<hot::ThreadState*> retired_;
};

}  // namespace jtrace

#endif  // JTRACE_AGENT_PROBES_STATE_RECYCLER_H_
