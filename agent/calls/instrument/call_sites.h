// Numbers and classes of the sites that get probes inside methods: the agent's answers to the
// rewriter's questions (calls/classfile/site.h).
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
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "agent/base/losses.h"
#include "agent/calls/classfile/instrumenter.h"
#include "agent/calls/classfile/site.h"
#include "agent/options/call_costs.h"
#include "agent/trace/record_encoder.h"
#include "common/call_place.h"

namespace jtrace::calls {

// The native methods of the classes in scope that were loaded so far: a call from another class
// gets probes only if the class with the native method was loaded first. Any thread.
class NativeMethods {
 public:
  // Sets those of a class, replacing the ones known before.
  void Add(uint32_t class_id, absl::Span<const classfile::MethodOutcome> methods);
  void Forget(const absl::flat_hash_set<uint32_t>& classes);
  bool Contains(const classfile::SiteRef& callee) const;

 private:
  void ForgetLocked(uint32_t class_id);

  mutable std::mutex mutex_;
  // "pkg/Class.name(descriptor)", and how many classes of that name have it.
  absl::flat_hash_map<std::string, uint32_t> known_;
  absl::flat_hash_map<uint32_t, std::vector<std::string>> by_class_;
};

// Whether a call makes its thread release the processor until another lets it continue (0x62).
bool IsPark(const classfile::SiteRef& callee);

// The sites of one class while it is being rewritten. `loader`: the number of its loader;
// `loader_of`: the number of the loader of the class that this one means by a name.
class CallSites : public classfile::SiteIds {
 public:
  CallSites(trace::RecordEncoder& encoder, const CallCosts& costs, const NativeMethods& natives,
            uint32_t loader, absl::FunctionRef<uint32_t(absl::string_view binary_name)> loader_of)
      : encoder_(encoder),
        costs_(costs),
        natives_(natives),
        loader_(loader),
        loader_of_(loader_of) {}

  uint32_t IdOf(const classfile::SiteRef& site) override;
  bool IsNative(const classfile::SiteRef& callee) override { return natives_.Contains(callee); }
  bool Wants(const classfile::SiteRef& callee) override;
  classfile::CallProbe ProbeOf(const classfile::SiteRef& callee) override;
  // Only these calls: IsPark, or IsInput, which then wait for the user.
  void WantOnly(bool (*wanted)(const classfile::SiteRef&)) { only_ = wanted; }

 private:
  trace::RecordEncoder& encoder_;
  const CallCosts& costs_;
  const NativeMethods& natives_;
  const uint32_t loader_;
  absl::FunctionRef<uint32_t(absl::string_view)> loader_of_;
  bool (*only_)(const classfile::SiteRef&) = nullptr;
};

// sites=on: the places that each routine calls from, by their numbers in trees, and by the position
// of sampled frames in its code.
//
// Any thread.

// Trees outlive recordings, so numbers do, too: one table for all recordings of a JVM.
class PlaceTable : public classfile::PlaceNumbers {
 public:
  explicit PlaceTable(Losses& losses) : losses_(losses) {}

  // Also of a routine whose class was redefined: its new places get further numbers. 0 for routines
  // whose numbers nodes cannot hold, and for more places than they can.
  uint32_t NumberOf(uint32_t routine, CallPlace place) override;
  bool KnowsOtherCode(std::string_view class_name, classfile::Bytes class_bytes) override;
  // The methods' code is as `result` has it from now on.
  void SetCode(const classfile::InstrumentResult& result);

  // Where `caller` calls `callee` from, by the number in the callee's node. kNoCallPlace: unknown.
  CallPlace Place(uint32_t caller, uint32_t number, uint32_t callee) const;
  // Of a bytecode index in the routine's present code.
  CallPlace PlaceAt(uint32_t routine, uint32_t bci) const;

 private:
  struct Routine {
    std::vector<CallPlace> places;              // by number - 1
    CallPlace only = kNoCallPlace;              // of calls without a number
    bool is_initializer = false;                // <clinit>: has no place in its caller
    std::vector<classfile::PlacedCode> placed;  // ascending
  };

  Losses& losses_;
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<uint32_t, Routine> routines_ ABSL_GUARDED_BY(mutex_);
  // Hashes of class files, by class name; 0: there were different ones.
  absl::flat_hash_map<std::string, size_t> codes_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace jtrace::calls
