// The rewriter's interface: puts probes into the methods of a class file.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "agent/calls/classfile/call_site_finder.h"
#include "agent/calls/classfile/probe_bytecode.h"
#include "agent/calls/classfile/probe_point.h"
#include "agent/calls/classfile/reason.h"
#include "common/classfile/flow_graph.h"
#include "common/scope_filter.h"

namespace jtrace::classfile {

// Probes put into the methods of a class, and the probe points that got none.
struct ProbeCounts {
  uint32_t entries = 0;
  uint32_t exits = 0;
  uint32_t resumes = 0;
  uint32_t catch_alls = 0;
  uint32_t leaves = 0;
  uint32_t calls = 0;  // pairs around calls that leave the scope
  uint32_t natives = 0;
  uint32_t exceptions = 0;
  uint32_t monitors = 0;        // at requests and releases of monitors
  uint32_t blocks = 0;          // blocks of methods whose blocks are counted
  uint32_t block_counters = 0;  // counters of blocks and edges
  uint32_t throw_counters = 0;  // counters of exceptions (BlockProbes)
  uint32_t call_sites = 0;      // probes that set the call site
  CallReasonCounts calls_left_out = {};
};

// A method as its class file declares it. The views point into the class bytes that were passed
// in (modified UTF-8) and live as long as those.
struct MethodDeclaration {
  std::string_view class_name;  // internal form, `java/lang/String`
  std::string_view name;
  std::string_view descriptor;
  uint16_t access = 0;
  uint16_t index = 0;      // position in the class file
  uint32_t code_size = 0;  // bytes of bytecode before rewriting; 0 without code
};

// The result for one method.
struct MethodOutcome {
  MethodDeclaration method;
  uint32_t id = 0;  // the result of assign_id; meaningful only if `probed` or `unwound`
  bool probed = false;
  bool unwound = false;  // has the unwind probe
  bool is_leaf = false;  // has only the leaf probe
  Reason reason = Reason::kNone;
  bool has_blocks = false;  // its blocks are counted (blocks=on)
  // The counters of its blocks, and the id of the first. Empty: its calls determine all counts.
  std::vector<CounterPosition> counters = {};
  uint32_t first_counter = 0;
  // If has_blocks: where its code moved. The instructions from the new position `now` on were at
  // `before` and on. Ascending.
  struct Moved {
    uint32_t now = 0;
    uint32_t before = 0;
  };
  std::vector<Moved> moved = {};
  // The call sites in its new code, if they are distinguished.
  std::vector<CallSiteRange> call_sites = {};
  // The call site of all its calls, if no probe sets it.
  CallSite only_call_site = kNoCallSite;
};

// Assigns the ids of block counters.
class CounterIds {
 public:
  virtual ~CounterIds() = default;
  // Returns the first of `count` consecutive new ids, when rewriting the method can no longer fail.
  virtual uint32_t NewIds(uint32_t count) = 0;
  // Remembers the class. Returns whether the entries of its methods need counters: other code of a
  // class of this name is counted, too, so that a routine's calls may be of either.
  virtual bool NeedsEntryCounters(std::string_view class_name) = 0;
};

// The class as it was read, and its new bytes. The views point into the class bytes that were
// passed in.
struct RewriteResult {
  std::string_view class_name;
  std::string_view super_name;  // empty for java/lang/Object and module-info
  uint16_t access = 0;
  uint16_t major_version = 0;
  std::vector<MethodOutcome> methods;  // every method, in class-file order
  ProbeCounts probes;
  std::vector<uint8_t> bytes;  // the new class file; empty if nothing changed
};

// Which probes the methods of a class get, and who numbers what they count. All that the members
// refer to must outlive the call of RewriteClass.
struct InstrumentSettings {
  const ScopeFilter& filter;  // the methods in scope
  const ProbeSpec& spec;      // the probes that they get
  // Returns a method's id. Called once for each method that gets its own probe, in class-file
  // order, when rewriting the method can no longer fail.
  absl::FunctionRef<uint32_t(const MethodDeclaration&)> assign_id;
  // The ids of probe points, requested after the method's. Null: nothing inside the methods gets
  // probes, whatever `spec` says.
  ProbeTargets* targets = nullptr;
  // The methods that get the unwind probe, in scope or not. Null: none.
  const ScopeFilter* unwinds = nullptr;
  // The ids of block counters. Not null if `spec` has a block_owner.
  CounterIds* counters = nullptr;
  // The numbers of call sites. Null: call sites are not distinguished.
  CallSiteIds* call_sites = nullptr;
};

// Puts probes into the methods of the class.
//
// Pure and thread-safe; `class_bytes` may be arbitrary bytes. A method that cannot be rewritten
// stays byte for byte as it was, with its reason. Errors: InvalidArgument if this is not a class
// file, Unimplemented if its version is not known (45.3 to 72); the class must then stay unchanged.
absl::StatusOr<RewriteResult> RewriteClass(absl::Span<const uint8_t> class_bytes,
                                           const InstrumentSettings& settings);

// Names and methods only, for classes that stay unchanged (all methods `kOutOfScope` or
// `kNoCode`); same errors.
absl::StatusOr<RewriteResult> Summarize(absl::Span<const uint8_t> class_bytes);

}  // namespace jtrace::classfile
