// What a method's bytecode says about where probes may go. Pure functions. The code must consist of
// valid instructions (BytecodeEditor::Scan), except for IsInLoop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "agent/calls/classfile/bytecode_editor.h"
#include "common/classfile/byte_io.h"
#include "common/classfile/class_file.h"
#include "common/classfile/code_attribute.h"
#include "common/classfile/flow_graph.h"

namespace jtrace::classfile {

// Whether no Java method can start while `code` runs, so that its method need not be recorded as
// the current one. False for every call, and for instructions that may load or initialise a class,
// because class loaders and initialisers are Java code: `new`, casts, arrays of objects, constants
// other than numbers and strings, and fields of other classes. Exceptions that the JVM throws by
// itself are not considered: their constructors are the JDK's.
bool CallsNothing(const ClassFile& file, const CodeAttribute& code);

// The first bci at or after `handler` where a probe is not covered by that same handler, if the
// code up to there is straight and calls nothing; else `handler`.
uint32_t HandlerProbeBci(uint32_t handler, const CodeAttribute& attribute);

// The bci of the invokespecial that initialises `this` in a constructor, if it is found.
std::optional<uint32_t> FindSuperCall(const ClassFile& file, Bytes code);

// The bci after the call of `super(...)` or `this(...)` in a constructor, if the code after it can
// only be reached through it; 0 in java/lang/Object, which has no such call.
std::optional<uint32_t> EndOfSuperCall(const ClassFile& file, const CodeAttribute& code,
                                       const BytecodeEditor& editor);

// The bcis of the instructions that may throw, ascending: everything but arithmetic, jumps,
// returns, local variables, the operand stack, constants, fields of this class or object, and
// monitorexit, which never throws in what compilers write. Errors that the JVM may throw anywhere
// (an overflow of the stack, Thread.stop) are not considered.
std::vector<uint32_t> ThrowingPoints(const ClassFile& file, const MethodInfo& method,
                                     const CodeAttribute& code, const FlowGraph& graph);

// Whether the instruction at `bci` is in a loop: some branch at or after it jumps to it or before
// it. Switches that jump back are ignored (no compiler makes loops of them). False if the code is
// malformed before that branch.
bool IsInLoop(Bytes code, size_t bci);

}  // namespace jtrace::classfile
