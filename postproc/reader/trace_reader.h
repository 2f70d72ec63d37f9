// Reads traces, binary (proto/FORMAT.md) or text, into the record stream.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "absl/status/status.h"
#include "postproc/model/import_stats.h"
#include "postproc/model/record_visitor.h"
#include "postproc/model/trace_model.h"
#include "postproc/reader/least_run.h"

namespace jtrace::postproc {

// Called now and then with the completed part, 0 to 1.
using ProgressFunction = std::function<void(double fraction)>;

// How a trace is read.
struct ReadOptions {
  bool raw_names = false;  // keep the numbers of lambda and hidden classes
  // Opens the files of native modules that the trace names, for the names of their functions.
  bool read_files = true;
  ProgressFunction progress;  // may be null
  // Whether the process still has the trace open for writing: then its end is not missing but not
  // yet written. May be null.
  std::function<bool(int64_t pid)> is_writing;
  // The number of reading threads, including the caller's. The record stream is the same with any
  // number.
  int jobs = 1;
  // With several threads, runs of calls of this size are summed up before they are passed on;
  // that is unnecessary for visitors that need each call.
  bool reduce_calls = true;
  LeastRun least_run;
};

// Recognises the format by the first bytes. Fails only if the content is not a trace, or has a
// newer version; damage is counted in `stats`.
absl::Status ReadAnyTrace(std::string_view content, std::string_view file,
                          const ReadOptions& options, TraceModel& model, ImportStats& stats,
                          RecordVisitor& visitor);

// True if `content` begins like a binary trace.
bool IsBinaryTrace(std::string_view content);

// Reads every whole frame and reports the rest. Two passes: the first collects all definitions of
// the trace (names can only be made unambiguous when all are known), the second passes on the
// records.
absl::Status ReadBinaryTrace(std::string_view content, std::string_view file,
                             const ReadOptions& options, TraceModel& model, ImportStats& stats,
                             RecordVisitor& visitor);

}  // namespace jtrace::postproc
