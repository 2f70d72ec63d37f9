// The work of the JIT compiler, from the records of compiled code (S2.6).
#pragma once

#include <array>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "postproc/model/ids.h"
#include "postproc/model/record_visitor.h"

namespace jtrace::postproc {

// HotSpot's compile levels: 1 to 3 are C1, 4 is C2. 0: not known, or made without a compiler.
constexpr uint32_t kC2Level = 4;

// A routine's compiled code over the whole trace; for several methods of one name the sums.
struct CompiledRoutine {
  int64_t loads = 0;    // pieces of code, including those for a loop's middle (OSR)
  int64_t unloads = 0;  // pieces that the JVM freed, for any reason and however late
  int64_t size = 0;     // bytes of the last piece
  std::array<int64_t, kC2Level + 1> by_level = {};
  int64_t osr = 0;  // pieces that a loop enters
  // Pieces of a level that the same entry of the method already had before.
  int64_t again = 0;
  // Pieces that were discarded although the method was still used: the next one for the same entry
  // has the same level, or a lower one after C2. Mostly deoptimisations; they include code that the
  // JVM dropped as cold and made again. Code that is discarded and never replaced is not seen.
  int64_t discarded = 0;
  uint32_t level = 0;  // of the last piece
  bool is_native_wrapper = false;
  uint32_t bytecodes = 0;  // of the last piece's method, in bytes; 0: unknown
  uint32_t modifiers = 0;  // its access flags
  int64_t first_c2 = 0;    // number of the first piece by C2 among all pieces, from 1; 0: none
};

// Calls from one routine to another in compiled code. Counts are of bodies: the last code of each
// method, for each of its entries.
struct InliningOfArc {
  int64_t bodies = 0;   // bodies that the caller is part of, itself or inlined
  int64_t inlined = 0;  // of these, bodies that have the callee inlined in the caller
};

// A place where the caller is in a body, itself or inlined, and the callee is not inlined there.
struct NotInlined {
  uint32_t level = 0;                // of the body
  int64_t depth = 0;                 // of the caller in the body; 0: the body is its own
  int64_t callee_above = 0;          // how often the callee is among the caller and those above it
  int64_t bytecodes = 0;             // of the caller with all that is inlined there
  int64_t body_size = 0;             // bytes of the body's code
  bool callee_was_compiled = false;  // by C2, before the body
};

class JitLog : public RecordVisitor {
  struct Body;

 public:
  void OnCalls(ThreadId, absl::Span<const CallRecord>) override {}
  void OnReducedCalls(ThreadId, const ReducedCalls&,
                      absl::FunctionRef<void(RecordVisitor&)>) override {}
  void OnCode(At at, const CodeRecord& code) override;

  // C1 and C2.
  static constexpr size_t kCompilers = 2;
  // What C1 and C2 compiled of a routine: at each compilation, and in each copy that they inlined.
  struct Copies {
    int64_t copies = 0;
    int64_t bytecodes = 0;  // of all copies, in bytes
  };
  using CompiledBytecodes = std::array<Copies, kCompilers>;

  bool empty() const { return compiled_.empty(); }
  const absl::flat_hash_map<RoutineId, CompiledBytecodes>& compiled_bytecodes() const {
    return compiled_bytecodes_;
  }
  const absl::flat_hash_map<RoutineId, CompiledRoutine>& compiled() const { return compiled_; }
  // All zero for a routine that was never compiled.
  CompiledRoutine Compiled(RoutineId routine) const;

  // Arcs between counted routines without another counted one between them. The call tree has the
  // same arcs: its nodes skip what is out of scope.
  class Arcs {
   public:
    Arcs(const JitLog& log, absl::FunctionRef<bool(RoutineId)> is_counted);
    InliningOfArc Find(RoutineId caller, RoutineId callee) const;
    void ForEachNotInlined(RoutineId caller, RoutineId callee,
                           absl::FunctionRef<void(const NotInlined&)> visit) const;

   private:
    struct Place {
      const Body* body = nullptr;
      size_t index = 0;
      int64_t bytecodes = 0;
    };

    void AddBody(const Body& body, absl::FunctionRef<bool(RoutineId)> is_counted);

    const JitLog& log_;
    absl::flat_hash_map<RoutineId, int64_t> bodies_;  // by caller
    absl::flat_hash_map<std::pair<RoutineId, RoutineId>, int64_t> inlined_;
    absl::flat_hash_map<RoutineId, std::vector<Place>> places_;  // by caller
    absl::flat_hash_set<std::tuple<const Body*, size_t, RoutineId>> inlined_at_;
  };

 private:
  // The methods inlined in a body, as a tree: [0] is the method itself, parents are first.
  struct Inlined {
    RoutineId routine;
    size_t parent = 0;
    uint32_t bytecodes = 0;
  };
  struct Body {
    uint64_t address = 0;
    uint32_t osr_entry = 0;
    uint32_t level = 0;
    int64_t size = 0;
    int64_t number = 0;  // among all pieces
    std::vector<Inlined> inlined;
  };
  struct Entry {
    uint32_t last_level = 0;
    uint32_t levels = 0;  // bit set
  };
  struct Method {
    absl::flat_hash_map<uint32_t, Entry> entries;  // by osr_entry
    absl::flat_hash_set<uint64_t> addresses;       // code that is not freed yet
    std::vector<Body> bodies;
  };
  using MethodKey = std::pair<RoutineId, uint32_t>;  // and the method's number, if it is known

  void Load(const CodeRecord& code);
  void Inline(const CodeRecord& code);
  void CountBytecodes(RoutineId routine, uint32_t level, uint32_t bytecodes);

  int64_t pieces_ = 0;
  absl::flat_hash_map<RoutineId, CompiledRoutine> compiled_;
  absl::flat_hash_map<RoutineId, CompiledBytecodes> compiled_bytecodes_;
  absl::flat_hash_map<MethodKey, Method> methods_;
};

}  // namespace jtrace::postproc
