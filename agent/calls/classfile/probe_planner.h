// Decides where the probes of a method go: at its entry, exits and catch handlers, and at points
// inside it (S2.1). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "agent/calls/classfile/block_probes.h"
#include "agent/calls/classfile/bytecode_editor.h"
#include "agent/calls/classfile/call_site_finder.h"
#include "agent/calls/classfile/probe_bytecode.h"
#include "agent/calls/classfile/probe_point_finder.h"
#include "agent/calls/classfile/reason.h"
#include "common/classfile/class_file.h"
#include "common/classfile/code_attribute.h"

namespace jtrace::classfile {

// Methods above this many bytes of bytecode are never compiled (HotSpot's HugeMethodLimit).
inline constexpr uint32_t kHugeMethodLimit = 8000;

// Where a method's probes go.
struct ProbePlan {
  enum class Kind : uint8_t {
    kEnter,
    kExit,
    kResume,
    kBeforeCall,
    kAfterCall,
    kCountPoint,
    kCountPointAtEntry,  // a kCountPoint that runs once, after kEnter
    kLeaf,
    kUnwind,
    kAllocation,
    kCountBlock,
    kCallSite,
  };
  struct Role {
    Kind kind = Kind::kEnter;
    // Of kBeforeCall, kCountPoint and kCountPointAtEntry: index into the points; of kCountBlock:
    // into the counters; of kCallSite: into CallSiteFinder::changes.
    uint32_t index = 0;
  };
  std::vector<Insertion> insertions;  // in the order of BytecodeEditor::Layout
  std::vector<Role> roles;            // of each insertion
  // First bci that the catch-all handler covers; none: the method gets no such handler.
  std::optional<uint32_t> covered_from;
  // kNone: the method keeps no token: it is a leaf, out of scope, or the spec has no tokens.
  TokenKind token = TokenKind::kNone;
  // kNone, or why the plan leaves something out.
  Reason reason = Reason::kNone;
};

// A method, what was found in it, and where its probes go. For the methods of one class, one after
// the other, with the same buffers.
struct PlannedMethod {
  // The arguments of CallSiteFinder.
  PlannedMethod(const ScopeFilter* filter, bool may_omit_only_site)
      : call_sites(filter, may_omit_only_site) {}

  const MethodInfo* info = nullptr;
  CodeAttribute code;
  BytecodeEditor editor;           // has scanned `code`, and laid out `plan`
  std::vector<ProbePoint> points;  // that get probes
  BlockProbes blocks;
  bool has_blocks = false;  // `blocks` is planned
  CallSiteFinder call_sites;
  bool has_call_sites = false;  // `call_sites` is filled in
  ProbePlan plan;

  // The StackMapTable attribute; null: there is none.
  const CodeSubAttribute* stack_map() const;
  // The tails of BlockProbes follow the method's own code, and the catch-all follows them.
  uint32_t tails_begin() const { return editor.new_size(); }
  uint32_t tails_size() const { return has_blocks ? blocks.tail_size() : 0; }
  bool has_catch_all() const { return plan.covered_from.has_value(); }
  // The index of the point at which the catch-all counts that a synchronized method releases its
  // monitor; none: there is no such point.
  std::optional<uint32_t> MonitorOfCatchAll() const;
};

// Where the probes go:
// - entry: before everything, once, whatever jumps to the first instruction;
// - exit: before every return;
// - resume: at every catch handler, where it makes the method's node the current one again.
//   In a handler that covers its own first instructions (javac's `monitorexit` loop, and `astore`
//   in old class files) it is placed after those: otherwise the same handler would catch a
//   stack overflow in the probe forever;
// - catch-all: over the whole body, in constructors from after `super(...)` on, where `this` is
//   initialised; not at all if that code can be entered by another way;
// - calls that leave the scope: directly before and after. A jump to the call runs the probe before
//   it; a jump to the next instruction skips the probe after the call. An exception from the call
//   reaches a resume or the catch-all;
// - exceptions: before an athrow; at a handler after its resume;
// - monitors: monitor_points.h;
// - unwind: after the entry;
// - allocations: before the instruction, also for jumps to it;
// - call sites: before the call, and before its own probe;
// - blocks: where the block begins, or the edge arrives, also in a method that is only counted;
// - a method that calls nothing (CallsNothing) is only counted, at its entry, if the spec has a
//   probe for it, and no block needs its activation.
class ProbePlanner {
 public:
  // Which of the probes that the spec asks for are planned. kWithoutPoints: all but those of the
  // points inside the method.
  enum class Selection : uint8_t { kAll, kWithoutPoints, kEntryAndExits };

  // Fills in method.plan, which refers to the bytes of `probes`. `unwind`: with the unwind probe.
  void Plan(const ClassFile& file, const ProbeBytecode& probes, TokenKind token,
            Selection selection, bool unwind, PlannedMethod& method);
  // Plans only the points inside the method and the unwind probe: the method is out of scope.
  void PlanPoints(const ProbeBytecode& probes, bool unwind, PlannedMethod& method);

 private:
  struct Planned {
    Insertion insertion;
    ProbePlan::Role role;
  };

  void Add(uint32_t bci, const Snippet& snippet, ProbePlan::Kind kind, size_t index = 0);
  void AddResumes(const CodeAttribute& code, const BytecodeEditor& editor,
                  const ProbeBytecode& probes);
  void AddCaught(const CodeAttribute& code, const ProbeBytecode& probes,
                 absl::Span<const ProbePoint> points);
  void AddAfterCalls(const CodeAttribute& code, const ProbeBytecode& probes,
                     absl::Span<const ProbePoint> points);
  void AddAllocations(const CodeAttribute& code, const ProbeBytecode& probes);
  void AddBlocks(const ProbeBytecode& probes, const PlannedMethod& method);
  void AddMonitors(const CodeAttribute& code, const ProbeBytecode& probes,
                   absl::Span<const ProbePoint> points);
  void AddCallSites(const ProbeBytecode& probes, const PlannedMethod& method);
  void AddExits(const ProbeBytecode& probes, const BytecodeEditor& editor);
  void AddBeforePoints(const ProbeBytecode& probes, absl::Span<const ProbePoint> points);
  void PutInto(ProbePlan& plan);

  std::vector<Planned> planned_;
  std::vector<uint32_t> handlers_;
};

}  // namespace jtrace::classfile
