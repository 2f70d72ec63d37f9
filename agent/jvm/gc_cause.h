// Why the JVM collects: its counters `sun.gc.cause` and `sun.gc.lastCause`, read from the JVM's
// memory (which /tmp/hsperfdata_USER/PID maps). PerfMemory::_prologue in HotSpot's tables
// (jvm/hotspot/vm_structs.h) has the address.
//
// Find: any thread, once the JVM is initialised. AtBegin and AtEnd: any thread, also inside a
// safepoint; they take no lock. The JVM changes the texts only on the thread that collects.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace jtrace::jvm {

class GcCause {
 public:
  // `libjvm_address`: anything inside libjvm. False if the JVM keeps no counters
  // (-XX:-UsePerfData) or they are not found.
  bool Find(const void* libjvm_address);

  // The value during JVMTI's GarbageCollectionStart: "System.gc()", "G1 Evacuation Pause". Empty if
  // unknown, which is the case in JDK 17's Serial and Parallel collectors: they set it after the
  // event.
  absl::string_view AtBegin() const;
  // The value during GarbageCollectionFinish, which every collector has set by then. Empty if the
  // JVM keeps no counters.
  absl::string_view AtEnd() const;

 private:
  // Finds both counters in the performance data that `prologue` begins.
  bool FindIn(uintptr_t prologue);

  // A counter's text in the JVM's memory.
  struct Text {
    const char* begin = nullptr;
    size_t size = 0;

    absl::string_view Read() const;
  };

  Text cause_;
  Text last_cause_;
};

}  // namespace jtrace::jvm
