// The classes that have probes, and which of their methods are only counted.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "agent/calls/classfile/class_rewriter.h"

namespace jtrace::calls {

// Classes and routines are named by the trace's numbers (ClassDef.id, Routine.id). Any thread.
class RewrittenClasses {
 public:
  // Adds a class with probes. `in_scope`: its methods have them; false: only calls inside it.
  void Add(uint32_t class_id, bool in_scope);
  bool Contains(uint32_t class_id) const;
  size_t size() const;
  // The loaded classes in scope: their methods count, also after the class has lost its probes.
  absl::flat_hash_set<uint32_t> counted() const;

  // Removes the class from those with probes; its methods stay counted.
  void RemoveProbes(uint32_t class_id);
  // Removes a class whose rewritten form the JVM refused: it never had probes.
  void Remove(uint32_t class_id);
  // Forgets unloaded classes.
  void Forget(const absl::flat_hash_set<uint32_t>& classes);

  // Which of the class's methods are leaves.
  void SetLeaves(uint32_t class_id, const classfile::RewriteResult& result);
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
