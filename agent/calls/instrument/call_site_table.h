// sites=on: the call sites of each routine, by their numbers in trees, and by the position of
// sampled frames in its code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "agent/base/losses.h"
#include "agent/calls/classfile/class_rewriter.h"
#include "common/call_site.h"

namespace jtrace::calls {

// Trees outlive recordings, so numbers do, too: one table for all recordings of a JVM. Any thread.
class CallSiteTable : public classfile::CallSiteIds {
 public:
  explicit CallSiteTable(Losses& losses) : losses_(losses) {}

  // Returns the call site's number in the routine, from 1. New call sites of a redefined class get
  // further numbers. 0: the routine has kMaxCallSites others, as many as nodes can distinguish.
  uint32_t NumberOf(uint32_t routine, CallSite site) override;
  bool AddClassAndFindOtherVersion(std::string_view class_name,
                                   classfile::Bytes class_bytes) override;
  // Replaces the call sites of the probed methods by those of their new code.
  void SetCode(const classfile::RewriteResult& result);

  // Returns where `caller` calls `callee`. `number`: in the callee's node. kNoCallSite: unknown.
  CallSite CallSiteOf(uint32_t caller, uint32_t number, uint32_t callee) const;
  // Returns the call site at a bytecode index of the routine's present code; kNoCallSite: unknown.
  CallSite CallSiteAt(uint32_t routine, uint32_t bci) const;

 private:
  struct Routine {
    std::vector<CallSite> by_number;                   // by number - 1
    CallSite only = kNoCallSite;                       // of calls without a number
    bool is_initializer = false;                       // <clinit>: has no call site in its caller
    std::vector<classfile::CallSiteRange> call_sites;  // ascending
  };

  Losses& losses_;
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<uint32_t, Routine> routines_ ABSL_GUARDED_BY(mutex_);
  // Hashes of class files, by class name; 0: there were different ones.
  absl::flat_hash_map<std::string, size_t> codes_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace jtrace::calls
