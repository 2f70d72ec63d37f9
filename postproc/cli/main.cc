// jtrace: recordings in running JVMs. All work is in RunJtrace.
#include <exception>
#include <iostream>
#include <string_view>
#include <vector>

#include "postproc/cli/jtrace_command.h"

int main(int argc, char** argv) {
  try {
    const std::vector<std::string_view> args(argv + 1, argv + argc);
    return jtrace::control::RunJtrace(args, std::cout, std::cerr);
  } catch (const std::exception& error) {  // out of memory, above all
    std::cerr << "jtrace: cannot go on: " << error.what() << '\n';
    return 2;
  }
}
