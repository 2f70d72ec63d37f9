// Why the JVM collects: its own counter `sun.gc.cause`, read where the JVM keeps it in memory (what
// /tmp/hsperfdata_USER/PID maps). Of HotSpot's tables (sampling/vm_structs.h) PerfMemory::_prologue
// tells the place.
//
// Find: any thread, when the JVM is initialised. Current: any, also inside a safepoint: the JVM
// changes the text only on the thread that is about to collect.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace jtrace::jvmti {

class GcCause {
 public:
  // `libjvm_address`: anything inside libjvm. False if the JVM keeps no counters
  // (-XX:-UsePerfData) or they are not found.
  bool Find(const void* libjvm_address);

  // "System.gc()", "G1 Evacuation Pause"; empty if not found.
  absl::string_view Current() const;

  // The same in counters that begin at `prologue`; nullptr if it has none. For tests.
  bool FindIn(const uint8_t* prologue);

 private:
  const char* text_ = nullptr;
  size_t size_ = 0;
};

}  // namespace jtrace::jvmti
