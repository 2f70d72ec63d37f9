// Whether the code cache is where the JVM's tables say, and its blobs look as they say.
#pragma once

#include "absl/status/status.h"
#include "agent/samples/walk/vm_layout.h"

namespace jtrace::jvm {

// Handlers load from the code cache without a guard, so this is asked before they see `layout`.
// Compares the bounds with each other, walks the first blobs of each heap as its segment map has
// them, and finds the interpreter and the call stub in blobs of these names. An error says what
// does not fit. Any thread, in VMInit or later.
absl::Status CheckCodeCache(const samples::VmLayout& layout);

}  // namespace jtrace::jvm
