// Relocates the tables of a Code attribute: line numbers, local variables, type annotations.
#pragma once

#include "agent/classfile/code_editor.h"
#include "common/classfile/byte_io.h"
#include "common/classfile/code_attribute.h"

namespace jtrace::classfile {

// Appends the body of a LineNumberTable, LocalVariable(Type)Table or Runtime(In)VisibleType-
// Annotations attribute with its code positions moved as `editor` laid the code out. Ranges that
// start at 0 still start at 0: the entry probe belongs to the method's first line, and parameters
// live through it. False if the table is malformed or points outside the code.
bool RelocateTable(CodeTable table, Bytes body, const CodeEditor& editor, ByteWriter& out);

}  // namespace jtrace::classfile
