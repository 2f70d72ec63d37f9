// Bytecode instructions as text, in the words of javap.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/classfile/class_file.h"

namespace jtrace::classfile {

// "invokevirtual"; of a `wide`, the instruction after it with "_w", as javap has it. `at` is an
// instruction that InstructionLength accepted.
std::string Mnemonic(Bytes code, size_t at);

// What follows: "10", "1, -1", the bci that a jump leads to, constants as javap comments them
// ("Method java/io/PrintStream.println:(I)V"; members of the class itself without its name, "class
// java/lang/String", "String a\n", "long 5l"), a switch's cases ("0: 28, 1: 30, default: 40").
// "" without operands. Bytes of names are those of the class file, modified UTF-8; control
// characters are escaped.
std::string OperandText(const ClassFile& file, Bytes code, size_t at);

}  // namespace jtrace::classfile
