// What the JIT compiler did, from the records of compiled code (S2.6).
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "postproc/model/ids.h"
#include "postproc/reader/record_visitor.h"

namespace jtrace::postproc {

// A method's compiled code over the whole trace.
struct CompiledRoutine {
  int64_t loads = 0;    // compilations, those for a loop's middle (OSR) included
  int64_t unloads = 0;  // code that the JVM dropped: deoptimised for good, replaced, or unloaded
  int64_t size = 0;     // bytes of the code that came last
};

// Calls from one routine to another as compiled code has them. Counts are of bodies: of each method
// the code that was loaded last.
struct InliningOfArc {
  int64_t bodies = 0;   // bodies that the caller is part of, itself or inlined
  int64_t inlined = 0;  // of these, bodies that have the callee inlined in the caller
};

class JitLog : public RecordVisitor {
 public:
  void OnCalls(ThreadId, absl::Span<const CallRecord>) override {}
  void OnReducedCalls(ThreadId, const ReducedCalls&,
                      absl::FunctionRef<void(RecordVisitor&)>) override {}
  void OnCode(At at, const CodeRecord& code) override;

  bool empty() const { return compiled_.empty(); }
  const absl::flat_hash_map<RoutineId, CompiledRoutine>& compiled() const { return compiled_; }
  // All zero for a routine that was never compiled.
  CompiledRoutine Compiled(RoutineId routine) const;

  // Arcs as the last code of each method has them.
  class Arcs {
   public:
    explicit Arcs(const JitLog& log);
    InliningOfArc Find(RoutineId caller, RoutineId callee) const;

   private:
    absl::flat_hash_map<RoutineId, int64_t> bodies_;  // by caller
    absl::flat_hash_map<std::pair<RoutineId, RoutineId>, int64_t> inlined_;
  };

 private:
  using Arc = std::pair<RoutineId, RoutineId>;  // caller, callee
  struct Body {
    uint64_t address = 0;
    absl::flat_hash_set<RoutineId> members;  // the method and what it has inlined
    absl::flat_hash_set<Arc> inlined;
  };

  absl::flat_hash_map<RoutineId, CompiledRoutine> compiled_;
  absl::flat_hash_map<RoutineId, Body> bodies_;  // by method: its last code
};

}  // namespace jtrace::postproc
