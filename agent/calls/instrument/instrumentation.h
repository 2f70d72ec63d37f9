// Puts probes into classes as they are loaded: joins the pure rewriter (classfile/) with the
// numbers of the trace and the counts of what was left out.
//
// Rewrite runs on any Java thread, inside ClassFileLoadHook, and holds no lock while rewriting.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "agent/base/losses.h"
#include "agent/calls/classfile/class_rewriter.h"
#include "agent/calls/classfile/probe_spec.h"
#include "agent/calls/instrument/block_count_source.h"
#include "agent/calls/instrument/call_site_table.h"
#include "agent/calls/instrument/jdk_probe_points.h"
#include "agent/calls/instrument/method_hook_matcher.h"
#include "agent/calls/instrument/probe_targets.h"
#include "agent/calls/instrument/rewrite_statistics.h"
#include "agent/calls/instrument/rewritten_classes.h"
#include "agent/calls/instrument/unprobed_classes.h"
#include "agent/calls/instrument/unprobed_methods.h"
#include "agent/calls/instrument/unwind_methods.h"
#include "agent/jvm/loader_ids.h"
#include "agent/options/call_costs.h"
#include "agent/options/options.h"
#include "agent/options/unwind_rules.h"
#include "agent/trace/record_encoder.h"
#include "common/scope_filter.h"

namespace jtrace::calls {

// The probes of one recording. Functions without a note about threads may be called on any.
class Instrumentation {
 public:
  // Errors: an invalid pattern or rule of include=, exclude=, costs=, unwind= or hook=.
  static absl::StatusOr<std::unique_ptr<Instrumentation>> Create(const Options& options,
                                                                 jvm::LoaderIds& loaders,
                                                                 trace::RecordEncoder& encoder,
                                                                 Losses& losses,
                                                                 UnprobedClasses& unprobed);

  // The new class file in memory from env->Allocate, or nothing if the class stays as it is.
  // `name`: internal form, null if the JVM does not know it; `loader`: the class's.
  std::span<unsigned char> Rewrite(jvmtiEnv* env, const char* name, jobject loader,
                                   std::span<const unsigned char> bytes);

  // Whether a class ("java.lang.String") may get probes: it is in scope, or a probe of a JDK method
  // or an unwind is wanted in it. Such classes that were loaded before the probes were ready are
  // then retransformed.
  bool MayGetProbes(const std::string& binary_name) const;
  // Whether include= names the class, but the probes themselves run through it, so it gets none.
  bool IsExempt(const std::string& binary_name) const;
  // Whether the class (ClassDef.id) passed the rewriter, or was left out by it for a recorded
  // reason.
  bool WasSeen(uint32_t class_id) const;

  // Sets which class the probes are (Probes::class_name). Before the first Rewrite.
  void SetProbeClass(std::string internal_name) { spec_.owner = std::move(internal_name); }
  // Sets the class whose probe counts blocks, and the object that numbers their counters. Before
  // the first Rewrite.
  void EnableBlocks(std::string internal_name, std::unique_ptr<BlockCountSource> blocks) {
    spec_.block_owner = std::move(internal_name);
    spec_.blocks_by_path = blocks->is_by_path();
    blocks_ = std::move(blocks);
  }
  // Sets the numbers of call sites (sites=on), which outlive this. Before the first Rewrite.
  void EnableCallSites(CallSiteTable* call_sites) {
    spec_.call_site = "at";
    call_sites_ = call_sites;
  }
  // Null: call sites are not distinguished.
  const CallSiteTable* call_sites() const { return call_sites_; }
  // A source of the trace; null: blocks are not counted.
  BlockCountSource* blocks() const { return blocks_.get(); }

  // Whether the class, by its number (ClassDef.id), has probes, and has not lost them.
  bool HasProbes(uint32_t class_id) const { return rewritten_.Contains(class_id); }
  // The number of these classes.
  size_t rewritten_count() const { return rewritten_.size(); }
  // See RewrittenClasses.
  absl::flat_hash_set<uint32_t> counted() const { return rewritten_.counted(); }
  // Removes the class from those with probes; its methods stay counted.
  void ForgetRewritten(uint32_t class_id) { rewritten_.RemoveProbes(class_id); }
  // Removes a class whose rewritten form the JVM refused: none of its methods is counted.
  void RemoveRefused(uint32_t class_id);
  // Forgets unloaded classes.
  void Forget(const absl::flat_hash_set<uint32_t>& classes);
  // Sets whether methods without probes are losses of the trace: see UnprobedMethods.
  void ReportUnprobedMethods(bool reports) { unprobed_methods_.SetReported(reports); }

  // See RewrittenClasses.
  bool IsLeaf(uint32_t routine) const { return rewritten_.IsLeaf(routine); }

  // Patterns of unwind= that no method with code has matched yet, in the option's order.
  std::vector<std::string> UnmatchedUnwinds() const { return unwinds_.Unmatched(); }

  // A source of the trace.
  MethodHookMatcher& method_hooks() { return *method_hooks_; }

  uint64_t methods_probed() const { return statistics_.methods_probed(); }
  uint64_t classes_rewritten() const { return statistics_.classes_rewritten(); }
  // A source of the trace.
  RewriteStatistics& statistics() { return statistics_; }

 private:
  // What Create makes of the options.
  struct Configuration {
    classfile::ScopeFilter filter;
    classfile::ProbeSpec spec;
    CallCosts costs;
    UnwindRules unwinds;
    JdkProbePoints jdk_points;
    std::unique_ptr<MethodHookMatcher> method_hooks;
    uint64_t max_routines = 0;
    bool clock_uses_handles = false;
  };
  Instrumentation(Configuration configuration, jvm::LoaderIds& loaders,
                  trace::RecordEncoder& encoder, Losses& losses, UnprobedClasses& unprobed);

  // Whether the probes' clock runs through the class, so that it gets no probes.
  bool IsOfTheClock(absl::string_view internal_name) const;
  uint32_t ClassIdOf(const char* name, jobject loader);
  // Returns the probes of a class that is loaded now. `unwound`: it may have methods of unwind=.
  classfile::ProbeSpec SpecOf(bool unwound);
  // Records what the rewriter did to the class.
  void Record(uint32_t class_id, bool in_scope, bool is_input,
              const classfile::RewriteResult& result);

  const classfile::ScopeFilter filter_;
  classfile::ProbeSpec spec_;
  const CallCosts costs_;
  const JdkProbePoints jdk_points_;
  const uint64_t max_routines_;  // once there are so many, classes get no probes
  const bool clock_uses_handles_;
  jvm::LoaderIds& loaders_;
  trace::RecordEncoder& encoder_;
  Losses& losses_;
  UnprobedClasses& unprobed_classes_;
  RewrittenClasses rewritten_;
  UnprobedMethods unprobed_methods_;
  UnwindMethods unwinds_;
  NativeMethods natives_;
  RewriteStatistics statistics_;
  std::unique_ptr<MethodHookMatcher> method_hooks_;
  std::unique_ptr<BlockCountSource> blocks_;
  CallSiteTable* call_sites_ = nullptr;
};

}  // namespace jtrace::calls
