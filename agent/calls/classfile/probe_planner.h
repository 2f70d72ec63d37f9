// Decides where the probes of a method go (S2.1, S2.3, S2.4).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "agent/calls/classfile/call_places.h"
#include "agent/calls/classfile/code_editor.h"
#include "agent/calls/classfile/probe_code.h"
#include "agent/calls/classfile/reason.h"
#include "agent/calls/classfile/site_finder.h"
#include "common/classfile/class_file.h"
#include "common/classfile/code_attribute.h"

namespace jtrace::classfile {

// Methods above this many bytes of bytecode are never compiled (HotSpot's HugeMethodLimit).
inline constexpr uint32_t kHugeMethodLimit = 8000;

class BlockProbes;

// Where a method's probes go.
struct ProbePlan {
  enum class Kind : uint8_t {
    kEnter,
    kExit,
    kResume,
    kBeforeCall,
    kAfterCall,
    kMark,
    kEntryMark,  // a kMark that runs once, after kEnter
    kLeaf,
    kUnwind,
    kAllocation,
    kHit,
    kPlace,
  };
  struct Role {
    Kind kind = Kind::kEnter;
    // Of kBeforeCall and kMark: index into the sites; of kHit: of the counter's place; of kPlace:
    // into CallPlaces::changes.
    uint32_t site = 0;
  };
  std::vector<Insertion> insertions;  // as CodeEditor::Layout wants them
  std::vector<Role> roles;            // of each insertion
  // First bci that the catch-all handler covers; none: the method gets no such handler.
  std::optional<uint32_t> covered_from;
  // The method has no token: one probe at its entry suffices.
  TokenKind token = TokenKind::kNone;
  // kNone, or why the plan leaves something out.
  Reason reason = Reason::kNone;
};

// The places of the probes:
// - entry: before everything, once, whatever jumps to the first instruction;
// - exit: before every return;
// - resume: at every catch handler, so that an activation left by an exception heals itself.
//   In a handler that covers its own first instructions (javac's `monitorexit` loop, and `astore`
//   in old class files) it is placed after those: otherwise the same handler would catch a stack
//   overflow in the probe forever;
// - catch-all: over the whole body, in constructors from after `super(...)` on, where `this` is
//   initialised; not at all if that code can be entered by another way;
// - calls that leave the scope: directly before and after, so that jumps to either place bypass
//   the probe that is not theirs. An exception from the call reaches a resume or the catch-all;
// - exceptions: before an athrow; at a handler after its resume;
// - monitors: monitor_sites.h;
// - unwind: after the entry;
// - allocations: before the instruction, also for jumps to it;
// - places of calls: before the call, and before its own probe;
// - blocks: where the block begins, or the edge arrives, also in a method that is only counted;
// - a method that calls nothing (leaf.h) is only counted, at its entry, if the spec has a probe
//   for it, and no block needs its activation.
class ProbePlanner {
 public:
  // full: without sites; light: entry and exits only.
  enum class Weight : uint8_t { kSites, kFull, kLight };

  // `editor` has scanned `code`. The plan's bytes live in `probes`. `blocks`: null: not counted.
  // `places`: where the place of the method's calls changes.
  void Plan(const ClassFile& file, const MethodInfo& method, const CodeAttribute& code,
            const CodeEditor& editor, const ProbeCode& probes, TokenKind token, Weight weight,
            absl::Span<const Site> sites, bool unwind, const BlockProbes* blocks,
            absl::Span<const PlacedCode> places, ProbePlan& plan);
  // Only the sites and the unwind: the method itself is out of scope.
  void PlanSites(const CodeAttribute& code, const ProbeCode& probes, absl::Span<const Site> sites,
                 bool unwind, ProbePlan& plan);

 private:
  struct Planned {
    Insertion insertion;
    ProbePlan::Role role;
  };

  void Add(uint32_t bci, const Snippet& snippet, ProbePlan::Kind kind, size_t site = 0);
  void AddResumes(const CodeAttribute& code, const CodeEditor& editor, const ProbeCode& probes);
  void AddCaught(const CodeAttribute& code, const ProbeCode& probes, absl::Span<const Site> sites);
  void AddAfterCalls(const CodeAttribute& code, const ProbeCode& probes,
                     absl::Span<const Site> sites);
  void AddAllocations(const CodeAttribute& code, const ProbeCode& probes);
  void AddBlocks(const ProbeCode& probes, const BlockProbes* blocks);
  void AddMonitors(const CodeAttribute& code, const ProbeCode& probes,
                   absl::Span<const Site> sites);
  void AddBeforeSites(const ProbeCode& probes, absl::Span<const Site> sites);
  void PutInto(ProbePlan& plan);

  std::vector<Planned> planned_;
  std::vector<uint32_t> handlers_;
};

// The first bci at or after `handler` where a probe is not covered by that same handler, if the
// code up to there is straight and calls nothing; else `handler`.
uint32_t ResumeBci(uint32_t handler, const CodeAttribute& attribute);

// The bci of the invokespecial that initialises `this` in a constructor, if it is found.
std::optional<uint32_t> FindSuperCall(const ClassFile& file, Bytes code);

// The bci after the call of `super(...)` or `this(...)` in a constructor, if the code after it can
// only be reached through it; 0 in java/lang/Object, which has no such call.
std::optional<uint32_t> EndOfSuperCall(const ClassFile& file, const CodeAttribute& code,
                                       const CodeEditor& editor);

}  // namespace jtrace::classfile
