// Rewrites a method with its probes, within the limits of HotSpot and of the class-file format.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "agent/calls/classfile/call_site_finder.h"
#include "agent/calls/classfile/class_rewriter.h"
#include "agent/calls/classfile/method_writer.h"
#include "agent/calls/classfile/probe_bytecode.h"
#include "agent/calls/classfile/probe_planner.h"
#include "agent/calls/classfile/probe_point_finder.h"
#include "agent/calls/classfile/reason.h"
#include "common/classfile/class_file.h"

namespace jtrace::classfile {

// Rewrites the methods of one class, one after the other, with the same buffers.
class MethodRewriter {
 public:
  // `finder`: finds the points inside methods that get probes; null: none do.
  MethodRewriter(const ClassFile& file, const InstrumentSettings& settings,
                 ConstantPoolBuilder& pool, ProbePointFinder* finder)
      : file_(file),
        spec_(settings.spec),
        pool_(pool),
        finder_(finder),
        numbers_(settings.call_sites),
        writer_(file, settings.spec, constants_, pool),
        method_(settings.spec.boundary ? nullptr : &settings.filter,
                numbers_ != nullptr &&
                    !numbers_->AddClassAndFindOtherVersion(file.this_name, file.bytes)) {}

  // What a method gets: its own probes, as far as the spec has them, and the unwind probe.
  struct Wanted {
    bool probes = true;
    bool unwind = false;
    bool count_entry = false;  // with blocks: its entry gets a counter
  };

  // Appends the method with its probes to `out`; SetId and SetCounters set their ids later. If the
  // reason is kOutOfScope or its effect is kUntouched, `out` is unchanged.
  Reason Rewrite(const MethodInfo& method, Wanted wanted, ByteWriter& out);

  // Whether the method that Rewrite appended last has the leaf probe (ProbeSpec::leaf).
  bool is_leaf() const { return method_.plan.roles.front().kind == ProbePlan::Kind::kLeaf; }

  // Writes the method's id, and those of its probe points, into what Rewrite appended last.
  void SetId(uint32_t id, ByteWriter& out);

  // Whether that method's blocks are counted, and its counters.
  bool has_blocks() const { return method_.has_blocks; }
  absl::Span<const CounterPosition> counters() const {
    return method_.has_blocks ? method_.blocks.positions() : absl::Span<const CounterPosition>();
  }
  // Calls f(new, old) for the position of its first instruction, and of each that moved by another
  // distance than the one before it.
  void ForEachMove(absl::FunctionRef<void(uint32_t, uint32_t)> f) const;
  // Whether its call sites are distinguished, and the call sites of its new code.
  bool has_call_sites() const { return method_.has_call_sites; }
  std::vector<CallSiteRange> CallSites() const { return method_.call_sites.Moved(method_.editor); }
  CallSite only_call_site() const { return method_.call_sites.only_call_site(); }
  // Writes the ids of its counters: `first`, `first` + 1, … in the order of counters().
  void SetCounters(uint32_t first, ByteWriter& out);

  const ProbeCounts& counts() const { return counts_; }

 private:
  Reason Prepare();
  void FindPoints();
  void LeaveOutPoints();
  void PlanBlocks();
  void LeaveBlocksOut();
  void FindCallSites();
  Reason PlanWithinLimits(const ProbeBytecode& probes);
  Reason PlanProbes(const ProbeBytecode& probes);
  Reason PlanWith(const ProbeBytecode& probes, ProbePlanner::Selection selection);
  void CountProbes();
  uint32_t PushedId(uint32_t id) const;

  // An id, and the Integer constant by which probes push it.
  struct TargetId {
    uint32_t id = 0;
    uint16_t constant = 0;  // 0: none needed
  };
  TargetId IdOf(const ProbePoint& point);

  const ClassFile& file_;
  const ProbeSpec& spec_;
  ConstantPoolBuilder& pool_;
  ProbePointFinder* const finder_;
  CallSiteIds* const numbers_;
  ProbePoolIndexes constants_;
  bool constants_added_ = false;
  ProbePlanner planner_;
  MethodWriter writer_;
  // State of the method that is being rewritten, or was rewritten last:
  Wanted wanted_;
  PlannedMethod method_;
  Reason blocks_reason_ = Reason::kNone;  // why its blocks are not counted
  CallReasonCounts left_out_ = {};
  IdPositions id_positions_;
  // State of the class so far:
  // By kind << 16 | constant, and is_method_monitor.
  absl::flat_hash_map<uint32_t, TargetId> target_ids_;
  ProbeCounts counts_;
};

}  // namespace jtrace::classfile
