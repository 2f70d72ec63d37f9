// Puts probes into classes as they are loaded: joins the pure rewriter (classfile/) with the
// numbers of the trace and the counts of what was left out.
//
// Any Java thread, inside ClassFileLoadHook. Holds no lock while rewriting.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "agent/base/losses.h"
#include "agent/calls/classfile/instrumenter.h"
#include "agent/calls/classfile/probe_code.h"
#include "agent/calls/classfile/site_finder.h"
#include "agent/calls/instrument/call_sites.h"
#include "agent/calls/instrument/counted_blocks.h"
#include "agent/calls/instrument/method_hooks.h"
#include "agent/calls/instrument/planner_totals.h"
#include "agent/calls/instrument/unprobed_classes.h"
#include "agent/jvm/loader_numbers.h"
#include "agent/options/call_costs.h"
#include "agent/options/options.h"
#include "agent/options/unwind_rules.h"
#include "agent/trace/record_encoder.h"
#include "common/scope_filter.h"

namespace jtrace::calls {

class Instrumentation {
 public:
  // Errors: a pattern of include= or exclude= that cannot be read.
  static absl::StatusOr<std::unique_ptr<Instrumentation>> Create(const Options& options,
                                                                 jvm::LoaderNumbers& loaders,
                                                                 trace::RecordEncoder& encoder,
                                                                 Losses& losses,
                                                                 UnprobedClasses& unprobed);

  // The new class file in memory from env->Allocate, or nothing if the class stays as it is.
  // `name`: internal form, null if the JVM does not know it; `loader`: the class's.
  std::span<unsigned char> Rewrite(jvmtiEnv* env, const char* name, jobject loader,
                                   std::span<const unsigned char> bytes);

  // Whether a class ("java.lang.String") is in scope: classes in scope that were loaded before the
  // probes were ready are then retransformed.
  bool InScope(const std::string& binary_name) const;
  // Whether include= names it, but the probes themselves run through it.
  bool IsExempt(const std::string& binary_name) const;
  // Whether the class (ClassDef.id) passed the rewriter, or was left out by it for a recorded
  // reason.
  bool HasPassed(uint32_t class_id) const;

  // Sets which class the probes are (Probes::class_name). Before the first Rewrite.
  void UseProbeClass(std::string internal_name) { spec_.owner = std::move(internal_name); }
  // blocks=on: the class that counts blocks, and who numbers the counters. Before the first
  // Rewrite.
  void CountBlocks(std::string internal_name, std::unique_ptr<CountedBlocks> blocks) {
    spec_.block_owner = std::move(internal_name);
    spec_.blocks_by_path = blocks->is_by_path();
    blocks_ = std::move(blocks);
  }
  // sites=on: the numbers of call places; outlives this. Before the first Rewrite.
  void DistinguishPlaces(PlaceTable* places) {
    spec_.place = "at";
    places_ = places;
  }
  // Null: calls are not distinguished by their places.
  const PlaceTable* places() const { return places_; }
  // Goes into the trace; null: blocks are not counted.
  CountedBlocks* blocks() const { return blocks_.get(); }

  // Whether the class, by its number (ClassDef.id), has probes, and they were not forgotten.
  bool HasProbes(uint32_t class_id) const;
  // How many have.
  size_t rewritten_count() const;
  // The classes in scope that were rewritten and are loaded: their methods are counted.
  absl::flat_hash_set<uint32_t> counted() const;
  // The class has lost its probes.
  void ForgetRewritten(uint32_t class_id);
  // The JVM did not accept the rewritten class: none of its methods is counted.
  void ForgetCounted(uint32_t class_id);
  // Whether methods without probes are losses of the trace. True repeats those of earlier classes,
  // as a recording begins without losses. At first true.
  void ReportLeftOut(bool reports);
  // The classes were unloaded.
  void Forget(const absl::flat_hash_set<uint32_t>& classes);

  // Whether the routine's calls are only counted: while it runs, its caller is the current node.
  // Any thread.
  bool IsLeaf(uint32_t routine) const;

  // Patterns of unwind= that no method with code has matched yet, in the option's order.
  std::vector<std::string> UnmatchedUnwinds() const;

  // Goes into the trace.
  MethodHooks& method_hooks() { return *method_hooks_; }

  uint64_t methods_probed() const { return totals_.methods_probed(); }
  uint64_t classes_rewritten() const { return totals_.classes_rewritten(); }
  // Goes into the trace.
  PlannerTotals& totals() { return totals_; }

 private:
  Instrumentation(classfile::ScopeFilter filter, classfile::ProbeSpec spec, CallCosts costs,
                  jvm::LoaderNumbers& loaders, trace::RecordEncoder& encoder, Losses& losses,
                  UnprobedClasses& unprobed);
  // The class through which threads park, out of scope: only its parking gets probes.
  bool IsParkClass(std::string_view internal_name) const;
  // Classes of ReadsDescriptors, out of scope.
  bool IsInputClass(std::string_view internal_name) const;
  // The probes of a class out of scope: at some sites, not at its methods.
  void LimitToSites(std::string_view internal_name, classfile::ProbeSpec& spec,
                    CallSites& sites) const;
  bool IsOfTheClock(absl::string_view internal_name) const;
  uint32_t ClassIdOf(const char* name, jobject loader);
  void Count(uint32_t class_id, const classfile::InstrumentResult& result);
  // A method without probes.
  struct LeftOut {
    uint32_t class_id = 0;
    std::string class_name;
    std::string method;
    classfile::Reason reason = classfile::Reason::kNone;
    bool is_alone = false;  // no method of its class has probes
  };
  void NoteLeftOut(const LeftOut& method);
  void Report(const LeftOut& method);
  // The probes of a class now; `unwound`: it may have methods of unwind=.
  classfile::ProbeSpec SpecOf(bool unwound);
  // What is known of the methods of a class that was rewritten.
  void NoteMethods(uint32_t class_id, const classfile::InstrumentResult& result);
  void NoteUnwinds(const classfile::InstrumentResult& result);
  void NoteMatches(std::string_view class_name, std::string_view method);
  void NoteLeaves(uint32_t class_id, const classfile::InstrumentResult& result);

  const classfile::ScopeFilter filter_;
  classfile::ProbeSpec spec_;
  jvm::LoaderNumbers& loaders_;
  trace::RecordEncoder& encoder_;
  Losses& losses_;
  UnprobedClasses& unprobed_;
  mutable absl::Mutex rewritten_mutex_;
  absl::flat_hash_set<uint32_t> rewritten_ ABSL_GUARDED_BY(rewritten_mutex_);
  absl::flat_hash_set<uint32_t> counted_ ABSL_GUARDED_BY(rewritten_mutex_);
  // Routines and their classes.
  absl::flat_hash_map<uint32_t, uint32_t> leaves_ ABSL_GUARDED_BY(rewritten_mutex_);
  bool reports_left_out_ ABSL_GUARDED_BY(rewritten_mutex_) = true;
  std::vector<LeftOut> left_out_ ABSL_GUARDED_BY(rewritten_mutex_);
  // Rules of unwinds_ that a method has matched.
  absl::flat_hash_set<size_t> matched_unwinds_ ABSL_GUARDED_BY(rewritten_mutex_);
  uint64_t max_routines_ = 0;  // beyond that a class gets no probes
  bool parks_ = false;
  bool finds_input_ = false;
  UnwindRules unwinds_;
  std::unique_ptr<MethodHooks> method_hooks_;
  classfile::ScopeFilter park_filter_;
  classfile::ScopeFilter input_filter_;
  const CallCosts costs_;
  NativeMethods natives_;
  PlannerTotals totals_;
  std::unique_ptr<CountedBlocks> blocks_;
  PlaceTable* places_ = nullptr;
  bool clock_uses_handles_ = false;
};

// The classes of the JDK in which reads of the user's input end up, whatever wraps it:
// FileInputStream and the dispatchers of file channels. With boundary=costs they get probes around
// their native reads, out of scope as they are; the probe decides by the descriptor (S4.2). Any
// thread.
bool ReadsDescriptors(std::string_view internal_name);

// Whether a call reads from a descriptor, which may be that of the user's input.
bool IsInput(const classfile::SiteRef& callee);

// The methods of these classes.
absl::StatusOr<classfile::ScopeFilter> InputFilter();

// The probes around their native reads; `spec`: those of classes in scope.
classfile::ProbeSpec InputSpec(classfile::ProbeSpec spec, std::string_view internal_name);

}  // namespace jtrace::calls
