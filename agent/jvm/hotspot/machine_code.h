// What the JVM's tables do not say, read from the code that it generates.
#pragma once

#include <cstdint>
#include <optional>

#include "agent/samples/walk/code_cache.h"
#include "agent/samples/walk/vm_layout.h"

namespace jtrace::jvm {

// Returns the address after the code from `entry` on that makes a frame of the size that `nmethod`
// says, and is alive; 0: it makes one of another size. Nothing if the code shows no size: it begins
// with a jump where the method is out of use, or waits for its class to be initialised.
std::optional<uintptr_t> FrameSetupEnd(uintptr_t entry, const samples::CodeBlob& nmethod);

// Where a thread keeps its ContinuationEntry.
struct ContinuationFields {
  samples::Offset entry = samples::kAbsent;  // in JavaThread: the mounted ContinuationEntry
  uint32_t entry_size = 0;                   // sizeof(ContinuationEntry)
};

// JDK 19 to 23 have virtual threads but export neither of these values. The JVM generates the code
// of jdk.internal.vm.Continuation.enterSpecial itself, always in the same form: it makes room for
// the entry on the stack, links it to the thread's last one and stores it as the thread's entry.
// `code` is any machine code; returns nothing if it has a different form.
std::optional<ContinuationFields> FindContinuationFields(const uint8_t* code, uint64_t size);

}  // namespace jtrace::jvm
