#include "postproc/trace_input.h"

#include <algorithm>
#include <filesystem>

#include "postproc/reader/trace_reader.h"
#include "postproc/report/shorten.h"

namespace jtrace::postproc {
namespace {

ProgressFunction Progress(const Environment& environment, const std::string& file) {
  if (!environment.err_is_terminal) return nullptr;
  std::ostream& err = environment.err;
  return [&err, file = Printable(file), last = -1](double fraction) mutable {
    const int percent = static_cast<int>(fraction * 100);
    if (percent == last) return;
    last = percent;
    err << "\rreading " << file << ": " << percent << " %" << (percent >= 100 ? "\r\x1b[K" : "")
        << std::flush;
  };
}

// A descriptor that was handed to us has the name of its file, if that is one.
std::string NameOf(const std::string& path) {
  if (!path.starts_with("/proc/self/fd/")) return path;
  std::error_code error;
  const std::filesystem::path file = std::filesystem::read_symlink(path, error);
  return !error && file.is_absolute() ? file.string() : path;
}

}  // namespace

absl::Status TraceInput::Read(absl::Span<const std::string> traces, bool reduce_calls,
                              TraceModel& model, ImportStats& stats, RecordVisitor& visitor) const {
  for (const std::string& path : traces) {
    const absl::StatusOr<InputFile> file = environment_.open(path);
    if (!file.ok()) return file.status();
    ReadOptions options;
    options.raw_names = line_.raw_names;
    const std::string name = NameOf(path);
    options.progress = Progress(environment_, name);
    options.jobs = line_.jobs > 0 ? line_.jobs : std::max(environment_.processors, 1);
    options.reduce_calls = reduce_calls;
    options.least_run = environment_.least_run;
    if (environment_.is_writing != nullptr) {
      options.is_writing = [&](int64_t pid) { return environment_.is_writing(pid, path); };
    }
    if (absl::Status status = ReadAnyTrace(file->content(), name, options, model, stats, visitor);
        !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace jtrace::postproc
