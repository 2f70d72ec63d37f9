// The targets of the probe points inside methods (calls/classfile/probe_point.h): which get probes,
// and their numbers in the trace.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "agent/calls/classfile/class_rewriter.h"
#include "agent/calls/classfile/probe_point.h"
#include "agent/options/call_costs.h"
#include "agent/trace/record_encoder.h"

namespace jtrace::calls {

// The native methods of the classes in scope that were loaded so far: a call from another class
// gets probes only if the class with the native method was loaded first. Any thread.
class NativeMethods {
 public:
  // Replaces the native methods of a class.
  void Add(uint32_t class_id, absl::Span<const classfile::MethodOutcome> methods);
  void Forget(const absl::flat_hash_set<uint32_t>& classes);
  bool Contains(const classfile::ProbeTarget& callee) const;

 private:
  void ForgetLocked(uint32_t class_id);

  mutable std::mutex mutex_;
  // "pkg/Class.name(descriptor)", and how many classes of that name have it.
  absl::flat_hash_map<std::string, uint32_t> known_;
  absl::flat_hash_map<uint32_t, std::vector<std::string>> by_class_;
};

// The targets in one class while it is being rewritten, as routines of the trace. `loader`: the
// number of the class's loader. `loader_of` returns the number of the loader of the class to which
// a name in this class refers.
class RoutineTargets : public classfile::ProbeTargets {
 public:
  RoutineTargets(trace::RecordEncoder& encoder, const CallCosts& costs,
                 const NativeMethods& natives, uint32_t loader,
                 absl::FunctionRef<uint32_t(absl::string_view binary_name)> loader_of)
      : encoder_(encoder),
        costs_(costs),
        natives_(natives),
        loader_(loader),
        loader_of_(loader_of) {}

  uint32_t IdOf(const classfile::ProbeTarget& target) override;
  bool IsNative(const classfile::ProbeTarget& callee) override { return natives_.Contains(callee); }
  bool IsWanted(const classfile::ProbeTarget& callee) override;
  classfile::CallProbe ProbeOf(const classfile::ProbeTarget& callee) override;
  // Limits the probes to calls that are `wanted`: IsPark, or IsInput. With IsInput the cost group
  // of all of them is USER_INPUT.
  void LimitTo(bool (*wanted)(const classfile::ProbeTarget&)) { only_ = wanted; }

 private:
  trace::RecordEncoder& encoder_;
  const CallCosts& costs_;
  const NativeMethods& natives_;
  const uint32_t loader_;
  absl::FunctionRef<uint32_t(absl::string_view)> loader_of_;
  bool (*only_)(const classfile::ProbeTarget&) = nullptr;
};

}  // namespace jtrace::calls
