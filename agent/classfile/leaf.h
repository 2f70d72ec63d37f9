#pragma once

#include "agent/classfile/class_file.h"
#include "agent/classfile/code_attribute.h"

namespace jtrace::classfile {

/// Whether no Java method can begin while `code` runs, so that nobody needs to know that its method
/// is the current one. False for every call, and for what may load or initialise a class, because
/// class loaders and initialisers are Java code: `new`, casts, arrays of objects, constants other
/// than numbers and strings, and fields of other classes. Exceptions that the JVM throws by itself
/// are not looked at: their constructors are the JDK's.
/// `code` consists of valid instructions (CodeEditor::Scan).
bool CallsNothing(const ClassFile& file, const CodeAttribute& code);

}  // namespace jtrace::classfile
