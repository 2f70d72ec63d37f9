// The classes that have probes, and which of their methods are only counted.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "agent/calls/classfile/instrumenter.h"

namespace jtrace::calls {

// Classes and routines are named by the trace's numbers (ClassDef.id, Routine.id). Any thread.
class RewrittenClasses {
 public:
  // The class has probes from now on; `in_scope`: at its methods.
  void Add(uint32_t class_id, bool in_scope);
  bool Contains(uint32_t class_id) const;
  size_t size() const;
  // The loaded classes in scope: their methods count, also after the class has lost its probes.
  absl::flat_hash_set<uint32_t> counted() const;

  // The class has lost its probes.
  void RemoveProbes(uint32_t class_id);
  // The JVM did not accept the rewritten class, which therefore never had probes.
  void Remove(uint32_t class_id);
  // The classes were unloaded.
  void Forget(const absl::flat_hash_set<uint32_t>& classes);

  // Which of the class's methods are leaves.
  void SetLeaves(uint32_t class_id, const classfile::InstrumentResult& result);
  // Whether the routine's calls are only counted: while it runs, its caller is the current node.
  bool IsLeaf(uint32_t routine) const;

 private:
  mutable absl::Mutex mutex_;
  absl::flat_hash_set<uint32_t> with_probes_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<uint32_t> counted_ ABSL_GUARDED_BY(mutex_);
  // Routines, and their classes.
  absl::flat_hash_map<uint32_t, uint32_t> leaves_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace jtrace::calls
