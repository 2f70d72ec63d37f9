// The methods in scope that have no probes, or not all, as losses of the trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "agent/base/losses.h"
#include "agent/calls/classfile/class_rewriter.h"
#include "agent/calls/instrument/unprobed_classes.h"

namespace jtrace::calls {

// Keeps the methods for later recordings, each of which begins without losses. Any thread.
class UnprobedMethods {
 public:
  UnprobedMethods(Losses& losses, UnprobedClasses& unprobed)
      : losses_(losses), unprobed_classes_(unprobed) {}

  // Adds the methods of a class that went through the rewriter.
  void Add(uint32_t class_id, const classfile::RewriteResult& result);
  // Sets whether the methods are losses of the trace, at first true. True reports those of earlier
  // classes again.
  void SetReported(bool is_reported);
  // The classes were unloaded, or are not counted.
  void Forget(const absl::flat_hash_set<uint32_t>& classes);

 private:
  struct Method {
    uint32_t class_id = 0;
    std::string class_name;
    std::string name;
    classfile::Reason reason = classfile::Reason::kNone;
    bool is_alone = false;  // no method of its class has probes
  };
  void Add(const Method& method);
  void Report(const Method& method);

  Losses& losses_;
  UnprobedClasses& unprobed_classes_;
  absl::Mutex mutex_;
  bool is_reported_ ABSL_GUARDED_BY(mutex_) = true;
  std::vector<Method> methods_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace jtrace::calls
