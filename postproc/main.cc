// jtrace-post: turns traces into reports. All work is in RunPostProcessor.
#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string_view>
#include <thread>
#include <vector>

#include "postproc/pipeline.h"
#include "postproc/support/exit_codes.h"
#include "postproc/support/memory_limit.h"
#include "postproc/support/open_files.h"
#include "postproc/support/out_of_memory.h"
#include "postproc/support/terminal.h"

namespace {

// https://no-color.org: set and not empty means no.
bool HasColours(int fd) {
  const char* const unwanted = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  return isatty(fd) != 0 && (unwanted == nullptr || *unwanted == '\0') && terminal != nullptr &&
         std::string_view(terminal) != "dumb";
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  // Columns grow to hundreds of megabytes: what they outgrow goes back to the system at once.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  const std::vector<std::string_view> args(argv + 1, argv + argc);
  jtrace::postproc::Environment environment{
      std::cout,
      std::cerr,
      [](const std::string& path) { return jtrace::postproc::InputFile::Open(path); },
      jtrace::postproc::TerminalColumns(STDOUT_FILENO),
      isatty(STDERR_FILENO) != 0,
      jtrace::postproc::HasFileOpen,
      static_cast<int>(std::thread::hardware_concurrency())};
  environment.memory = jtrace::postproc::MachineMemory();
  environment.limit_memory = [](uint64_t bytes, std::string_view message) {
    jtrace::postproc::EndWhenOutOfMemory(message, jtrace::postproc::kExitInputOutput);
    jtrace::postproc::LimitMemory(bytes);
  };
  environment.out_has_colours = HasColours(STDOUT_FILENO);
  struct stat status {};
  environment.out_is_file = fstat(STDOUT_FILENO, &status) == 0 && S_ISREG(status.st_mode);
  return jtrace::postproc::RunPostProcessor(args, environment);
}
