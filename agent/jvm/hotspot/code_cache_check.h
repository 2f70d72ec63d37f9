// Checks the layout of the code cache before handlers read it.
#pragma once

#include "absl/status/status.h"
#include "agent/samples/walk/vm_layout.h"

namespace jtrace::jvm {

// Checks that the code cache is where the JVM's tables say, and that its blobs look as they say.
// Handlers load from the code cache without a guard, so this comes before they see `layout`.
// Compares the bounds with each other, walks the first blobs of each heap along its segment map,
// and finds the interpreter and the call stub. The error says what is wrong. Any thread, in VMInit
// or later.
absl::Status CheckCodeCache(const samples::VmLayout& layout);

}  // namespace jtrace::jvm
