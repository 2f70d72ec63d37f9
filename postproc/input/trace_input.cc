#include "postproc/input/trace_input.h"

#include <algorithm>
#include <filesystem>

#include "postproc/reader/trace_reader.h"
#include "postproc/reader/work_budget.h"
#include "postproc/report/shorten.h"
#include "postproc/support/memory_limit.h"
#include "postproc/support/strings.h"

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

// An inherited descriptor is named like its file, if it is one.
std::string NameOf(const std::string& path) {
  if (!path.starts_with("/proc/self/fd/")) return path;
  std::error_code error;
  const std::filesystem::path file = std::filesystem::read_symlink(path, error);
  return !error && file.is_absolute() ? file.string() : path;
}

}  // namespace

absl::Status TraceInput::Read(absl::Span<const std::string> traces, bool reduce_calls,
                              TraceModel& model, ImportStats& stats, RecordVisitor& visitor) const {
  LimitMemory();
  for (const std::string& path : traces) {
    if (absl::Status status = ReadOne(path, reduce_calls, model, stats, visitor); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status TraceInput::ReadOne(const std::string& path, bool reduce_calls, TraceModel& model,
                                 ImportStats& stats, RecordVisitor& visitor) const {
  const absl::StatusOr<InputFile> file = environment_.open(path);
  if (!file.ok()) return file.status();
  environment_.trace_bytes += file->content().size();
  LimitMemory();
  ReadOptions options;
  options.raw_names = line_.raw_names;
  options.read_files = !line_.no_files;
  const std::string name = NameOf(path);
  options.progress = Progress(environment_, name);
  options.jobs = line_.jobs > 0 ? line_.jobs : std::max(environment_.processors, 1);
  options.reduce_calls = reduce_calls;
  options.least_run = environment_.least_run;
  if (environment_.is_writing != nullptr) {
    options.is_writing = [&](int64_t pid) { return environment_.is_writing(pid, path); };
  }
  absl::Status status;
  try {
    status = ReadAnyTrace(file->content(), name, options, model, stats, visitor);
  } catch (const WorkBudget::Spent&) {
    status = absl::ResourceExhaustedError(StrCat(name, " requests far more work than a trace of ",
                                                 ByteSizeText(file->content().size()),
                                                 " can need: no jtrace writes such files"));
  }
  if (file->Shrank()) {
    stats = {};  // the damage that it found is the missing part
    return absl::DataLossError(
        StrCat(name, " became shorter while it was read: something rewrites it; read it again"));
  }
  return status;
}

void TraceInput::LimitMemory() const {
  if (environment_.limit_memory == nullptr) return;
  // The size of a pipe is known only when it is read.
  const uint64_t bytes =
      environment_.trace_bytes != 0 ? environment_.trace_bytes : InputFile::kMostStreamed;
  const bool is_given = line_.limit_memory != 0;
  const uint64_t limit =
      is_given ? line_.limit_memory : MemoryForTraces(bytes, environment_.memory);
  if (const std::string earlier = EarlierLimit(limit, UsedMemory(), StartLimits());
      !earlier.empty()) {
    environment_.limit_memory(
        limit, StrCat("jtrace-post: this needs more memory than the limit that this process was "
                      "started with, ",
                      earlier, ": raise it, or read less at once"));
    return;
  }
  environment_.limit_memory(
      limit, StrCat("jtrace-post: this needs more than ", ByteSizeText(limit), " of memory, ",
                    is_given ? "which --limit-memory= allows"
                             : StrCat("the limit for traces of ", ByteSizeText(bytes),
                                      " on this machine; if you trust them, allow more with "
                                      "--limit-memory=SIZE")));
}

}  // namespace jtrace::postproc
