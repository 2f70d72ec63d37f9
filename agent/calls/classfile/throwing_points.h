// Finds the instructions of a method that may throw.
#pragma once

#include <cstdint>
#include <vector>

#include "common/classfile/class_file.h"
#include "common/classfile/code_attribute.h"
#include "common/classfile/flow_graph.h"

namespace jtrace::classfile {

// Their bcis, ascending: everything but arithmetic, jumps, returns, local variables, the operand
// stack, constants, fields of this class or object, and monitorexit, which never throws in what
// compilers write. Errors that the JVM may throw anywhere (an overflow of the stack, Thread.stop)
// are not considered.
std::vector<uint32_t> ThrowingPoints(const ClassFile& file, const MethodInfo& method,
                                     const CodeAttribute& code, const FlowGraph& graph);

}  // namespace jtrace::classfile
