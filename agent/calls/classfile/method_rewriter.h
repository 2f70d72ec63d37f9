// Rewrites a method with its probes, within the limits of HotSpot and of the class-file format.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "agent/calls/classfile/block_probes.h"
#include "agent/calls/classfile/call_places.h"
#include "agent/calls/classfile/code_editor.h"
#include "agent/calls/classfile/instrumenter.h"
#include "agent/calls/classfile/probe_code.h"
#include "agent/calls/classfile/probe_planner.h"
#include "agent/calls/classfile/reason.h"
#include "agent/calls/classfile/site_finder.h"
#include "agent/calls/classfile/stack_map.h"
#include "common/classfile/class_file.h"
#include "common/classfile/code_attribute.h"

namespace jtrace::classfile {

inline constexpr uint16_t kFirstMajorWithStackMaps = 50;  // JVMS 4.7.4

// For the methods of one class, one after the other, with the same buffers.
class MethodRewriter {
 public:
  // `finder` and `ids` may be null: no sites. `numbers` too: places are not distinguished;
  // `filter`: what else is probed, null: everything may be.
  MethodRewriter(const ClassFile& file, const ProbeSpec& spec, ConstantPoolBuilder& pool,
                 SiteFinder* finder = nullptr, SiteIds* ids = nullptr,
                 PlaceNumbers* numbers = nullptr, const ScopeFilter* filter = nullptr)
      : file_(file),
        spec_(spec),
        pool_(pool),
        numbers_(numbers),
        call_places_(spec.boundary ? nullptr : filter,
                     numbers != nullptr && !numbers->KnowsOtherCode(file.this_name, file.bytes)),
        finder_(finder),
        ids_(ids) {}

  // The probes of a method: its own (as far as the spec has them), and that of an unwind.
  struct Wanted {
    bool probes = true;
    bool unwind = false;
    bool count_entry = false;  // with blocks: its calls are not known otherwise
  };

  // Appends the method with its probes to `out`, ids still to be set by SetId. For a reason whose
  // effect is kUntouched `out` is unchanged.
  Reason Rewrite(const MethodInfo& method, Wanted wanted, ByteWriter& out);

  // Whether the method that Rewrite appended last is only counted (ProbeSpec::leaf).
  bool is_leaf() const { return plan_.roles.front().kind == ProbePlan::Kind::kLeaf; }

  // Writes the id, and those of its sites, into the method that Rewrite appended last.
  void SetId(uint32_t id, ByteWriter& out);

  // Whether that method's blocks are counted, and the places of the counters.
  bool has_blocks() const { return has_blocks_; }
  absl::Span<const CounterPlace> places() const {
    return has_blocks_ ? blocks_.places() : absl::Span<const CounterPlace>();
  }
  // Calls f(new, old) for the positions of its instructions from which on they moved by another
  // distance, and for the first one.
  void ForEachMove(absl::FunctionRef<void(uint32_t, uint32_t)> f) const;
  // Whether its calls are distinguished by their places, and those of its new code.
  bool has_places() const { return has_places_; }
  std::vector<PlacedCode> Places() const { return call_places_.Moved(editor_); }
  CallPlace only_place() const { return call_places_.only(); }
  // Writes the ids of its counters: `first`, `first` + 1, … in the order of the places.
  void SetCounters(uint32_t first, ByteWriter& out);

  const ProbeCounts& counts() const { return counts_; }

 private:
  Reason Prepare(const MethodInfo& method);
  void FindSites(const MethodInfo& method);
  Reason PlanWithinLimits(const MethodInfo& method, const ProbeCode& probes);
  Reason PlanWith(const MethodInfo& method, const ProbeCode& probes, ProbePlanner::Weight weight);
  Reason WriteMethod(const MethodInfo& method, const ProbeCode& probes, ByteWriter& out);
  void WriteCode(const ProbeCode& probes, ByteWriter& out);
  Reason WriteExceptions(ByteWriter& out) const;
  Reason WriteTables(const MethodInfo& method, ByteWriter& out);
  Reason WriteStackMap(const MethodInfo& method, const CodeSubAttribute* old, ByteWriter& out);
  uint32_t NewSize(const ProbeCode& probes) const;
  void CountProbes();
  void LeaveSitesOut();
  void PlanBlocks(const MethodInfo& method);
  void LeaveBlocksOut();
  void FindPlaces();
  uint32_t PushedId(uint32_t id) const;
  const CodeSubAttribute* StackMap() const;
  Reason PlanProbes(const MethodInfo& method, const ProbeCode& probes);
  StackMapContext FrameContext(const MethodInfo& method) const;
  // Where the code after the method's own begins.
  uint32_t tails_begin() const { return editor_.new_size(); }
  uint32_t tails_size() const { return has_blocks_ ? blocks_.tail_size() : 0; }
  bool has_catch_all() const { return plan_.covered_from.has_value(); }
  // The site of the monitor that a synchronized method releases in its catch-all; none: it has
  // none.
  std::optional<uint32_t> MonitorOfCatchAll() const;

  const ClassFile& file_;
  const ProbeSpec& spec_;
  ConstantPoolBuilder& pool_;
  ProbeConstants constants_;
  bool constants_added_ = false;
  CodeAttribute code_;
  CodeEditor editor_;
  ProbePlanner planner_;
  ProbePlan plan_;
  Wanted wanted_;
  StackMapRewriter stack_map_;
  std::vector<size_t> id_positions_;      // in `out`
  std::vector<size_t> unwind_positions_;  // of the same id
  BlockProbes blocks_;
  bool has_blocks_ = false;
  Reason blocks_reason_ = Reason::kNone;  // why it has none
  PlaceNumbers* const numbers_;
  CallPlaces call_places_;
  bool has_places_ = false;
  bool is_initializer_ = false;  // <clinit>
  // Positions in `out` of the numbers of places, by change.
  std::vector<std::pair<uint32_t, size_t>> place_positions_;
  // Positions in `out` of the ids of counters, by place.
  std::vector<std::pair<uint32_t, size_t>> counter_positions_;

  // Sites: those of the current method, the positions of their ids, and the class's ids so far.
  struct SiteId {
    uint32_t id = 0;
    uint16_t constant = 0;  // 0: none needed
  };
  struct SitePosition {
    size_t position = 0;  // in `out`
    uint32_t site = 0;
  };
  SiteId IdOf(const Site& site);

  SiteFinder* finder_;
  SiteIds* ids_;
  std::vector<Site> sites_;
  CallReasonCounts left_out_ = {};
  std::vector<SitePosition> site_positions_;
  absl::flat_hash_map<uint32_t, SiteId> site_ids_;  // by kind << 16 | constant, and of_method
  ProbeCounts counts_;
};

}  // namespace jtrace::classfile
