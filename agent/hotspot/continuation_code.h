// Where a thread keeps its ContinuationEntry, read from the code that enters continuations.
#pragma once

#include <cstdint>
#include <optional>

#include "agent/hot/walk/vm_layout.h"

namespace jtrace::sampling {

struct ContinuationFields {
  hot::Offset entry = hot::kAbsent;  // in JavaThread: the mounted ContinuationEntry
  uint32_t entry_size = 0;           // sizeof(ContinuationEntry)
};

// JDK 19 to 23 mount virtual threads but export neither. The JVM generates the code of
// jdk.internal.vm.Continuation.enterSpecial itself, always in the same form: it makes room for the
// entry on the stack, links it to the thread's last one and stores it as the thread's entry. `code`
// is any machine code; returns nothing if it has a different form.
std::optional<ContinuationFields> FindContinuationFields(const uint8_t* code, uint64_t size);

}  // namespace jtrace::sampling
