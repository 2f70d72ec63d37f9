// How jtrace-post accesses its environment.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "postproc/reader/input_file.h"
#include "postproc/reader/least_run.h"
#include "postproc/support/error_kind.h"
#include "postproc/support/exit_codes.h"

namespace jtrace::postproc {

// All that the program uses of its environment.
struct Environment {
  std::ostream& out;
  std::ostream& err;
  // Opens a trace.
  std::function<absl::StatusOr<InputFile>(const std::string& path)> open;
  int terminal_width = 0;  // of `out`; 0: it is not a terminal
  bool err_is_terminal = false;
  // Whether a process has a file open: it is still being recorded. May be null.
  std::function<bool(int64_t pid, const std::string& path)> is_writing = nullptr;
  int processors = 1;  // that the process may use: how many threads read if --jobs does not say
  // Ends the process with this message and kExitInputOutput when it would need more than that many
  // bytes of memory. Null: there are no limits.
  std::function<void(uint64_t bytes, std::string_view message)> limit_memory = nullptr;
  uint64_t memory = 0;           // bytes that the machine has for the process; 0: not known
  uint64_t trace_bytes = 0;      // of the traces read so far
  LeastRun least_run = {};       // as in ReadOptions
  bool out_has_colours = false;  // `out` is a terminal that shows them, and its user wants them
  bool out_is_file = false;      // a regular one
};

}  // namespace jtrace::postproc
