#include "postproc/trace_input.h"

#include <algorithm>
#include <sstream>

#include "postproc/reader/trace_reader.h"
#include "postproc/support/printable_stream.h"

namespace jtrace::postproc {
namespace {

ProgressFunction Progress(const Environment& environment, const std::string& file) {
  if (!environment.err_is_terminal) return nullptr;
  std::ostream& err = environment.err;
  std::ostringstream shown;
  PrintableBuffer printable(shown);
  std::ostream(&printable) << file;
  return [&err, file = shown.str(), last = -1](double fraction) mutable {
    const int percent = static_cast<int>(fraction * 100);
    if (percent == last) return;
    last = percent;
    err << "\rreading " << file << ": " << percent << " %" << (percent >= 100 ? "\r\x1b[K" : "")
        << std::flush;
  };
}

}  // namespace

absl::Status TraceInput::Read(absl::Span<const std::string> traces, bool reduce_calls,
                              TraceModel& model, ImportStats& stats, RecordVisitor& visitor) const {
  for (const std::string& path : traces) {
    const absl::StatusOr<InputFile> file = environment_.open(path);
    if (!file.ok()) return file.status();
    ReadOptions options;
    options.raw_names = line_.raw_names;
    options.progress = Progress(environment_, path);
    options.jobs = line_.jobs > 0 ? line_.jobs : std::max(environment_.processors, 1);
    options.reduce_calls = reduce_calls;
    options.least_run = environment_.least_run;
    if (environment_.is_writing != nullptr) {
      options.is_writing = [&](int64_t pid) { return environment_.is_writing(pid, path); };
    }
    if (absl::Status status = ReadAnyTrace(file->content(), path, options, model, stats, visitor);
        !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace jtrace::postproc
