// Finds methods that call nothing, whose activations need only be counted.
#pragma once

#include "common/classfile/class_file.h"
#include "common/classfile/code_attribute.h"

namespace jtrace::classfile {

// Whether no Java method can start while `code` runs, so that its method need not be recorded as
// the current one. False for every call, and for instructions that may load or initialise a class,
// because class loaders and initialisers are Java code: `new`, casts, arrays of objects, constants
// other than numbers and strings, and fields of other classes. Exceptions that the JVM throws by
// itself are not considered: their constructors are the JDK's.
// `code` consists of valid instructions (CodeEditor::Scan).
bool CallsNothing(const ClassFile& file, const CodeAttribute& code);

}  // namespace jtrace::classfile
