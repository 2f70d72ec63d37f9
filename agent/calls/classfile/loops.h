// Finds loops in bytecode.
#pragma once

#include <cstddef>

#include "common/classfile/byte_io.h"

namespace jtrace::classfile {

// Whether the instruction at `bci` is in a loop: some branch at or after it jumps to it or before
// it. Switches that jump back are ignored (no compiler makes loops of them). False if the code is
// malformed before that branch.
bool IsInLoop(Bytes code, size_t bci);

}  // namespace jtrace::classfile
