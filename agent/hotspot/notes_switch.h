// Makes the JVM's compilers keep debug information for each instruction, not for safepoints only.
#pragma once

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "agent/hot/walk/vm_layout.h"
#include "agent/hotspot/jvm_flags.h"

namespace jtrace::sampling {

// HotSpot's flag DebugNonSafepoints. The compilers read it at the beginning of each compilation, so
// it may change while the program runs. They do the same as long as an agent listens to JVMTI
// CompiledMethodLoad, which costs the JVM some 15 us for each compiled method.
//
// The JVM's own variable is written: only if it is a boolean in libjvm's data, and the tables that
// name it are right about the size of the code cache, which is known otherwise.
//
// Threads: Find on the session's, before the others; those on any thread.
class NotesSwitch {
 public:
  // In VMInit or later. `libjvm_address`: any address in libjvm.
  void Find(const JvmFlags& flags, const hot::VmLayout& layout, const void* libjvm_address);

  // False: the flag was not found. True also if the user chose its value, which is kept, as the JVM
  // does.
  bool TurnOn();
  // Restores what TurnOn changed.
  void TurnOff();

 private:
  absl::Mutex mutex_;
  uintptr_t flag_ ABSL_GUARDED_BY(mutex_) = 0;  // 0: not found
  bool is_chosen_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_changed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace jtrace::sampling
