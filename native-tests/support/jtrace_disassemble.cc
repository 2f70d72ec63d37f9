// Prints the instructions of class files, for the comparison with javap.
//
//     jtrace-disassemble FILE…
//
// A line "CLASS name", for each method with code a line "METHOD name descriptor", and for each
// instruction its bci, mnemonic and operands, separated by tabs.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

#include "common/classfile/class_file.h"
#include "common/classfile/code_attribute.h"
#include "common/classfile/disassembly.h"
#include "common/classfile/opcodes.h"

namespace jtrace::classfile {
namespace {

std::string Text(std::string_view text) { return std::string(text); }

bool Print(const char* path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(in), {}};
  const auto file = ParseClassFile(bytes);
  if (!file.ok()) return false;
  std::printf("CLASS %s\n", Text(file->this_name).c_str());
  CodeAttribute code;
  for (const MethodInfo& method : file->methods) {
    if (!method.has_code()) continue;
    const Bytes attribute =
        Bytes(bytes).subspan(method.code_begin, method.code_end - method.code_begin);
    if (!code.Parse(attribute, file->pool)) return false;
    std::printf("METHOD %s %s\n", Text(method.name).c_str(), Text(method.descriptor).c_str());
    for (size_t at = 0; at < code.code.size();) {
      const size_t length = InstructionLength(code.code, at);
      if (length == 0) return false;
      std::printf("%zu\t%s\t%s\n", at, Mnemonic(code.code, at).c_str(),
                  OperandText(*file, code.code, at).c_str());
      at += length;
    }
  }
  return true;
}

}  // namespace
}  // namespace jtrace::classfile

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (jtrace::classfile::Print(argv[i])) continue;
    std::fprintf(stderr, "jtrace-disassemble: %s cannot be read\n", argv[i]);
    return 1;
  }
  return 0;
}
