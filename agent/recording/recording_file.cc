#include "agent/recording/recording_file.h"

#include <unistd.h>

#include "absl/time/clock.h"
#include "agent/base/clock.h"

namespace jtrace {

absl::StatusOr<std::unique_ptr<trace::TraceFile>> RecordingFile::OpenNumbered(
    const std::string& out) {
  const auto now_s = static_cast<int64_t>(UnixNanos() / 1'000'000'000u);
  const std::string path = trace::ExpandPath(out, getpid(), now_s, files_begun_ + 1);
  auto file = trace::TraceFile::Open(path);
  if (absl::IsResourceExhausted(file.status()) && ended_.MakeRoom(1)) {
    file = trace::TraceFile::Open(path);
  }
  if (file.ok() && ended_.has_keep()) {
    (*file)->WhenFull([this](uint64_t bytes) { return ended_.MakeRoom(bytes); });
  }
  return file;
}

absl::Status RecordingFile::BeginNumbered(trace::TraceFile& file) {
  if (absl::Status status = file.Begin(); !status.ok()) return status;
  ++files_begun_;
  began_ = absl::Now();
  return absl::OkStatus();
}

absl::Status RecordingFile::Open(const std::string& out) {
  auto file = OpenNumbered(out);
  if (!file.ok()) return file.status();
  file_ = *std::move(file);
  return absl::OkStatus();
}

absl::Status RecordingFile::Begin() { return BeginNumbered(*file_); }

absl::StatusOr<std::unique_ptr<trace::TraceFile>> RecordingFile::Next(const std::string& out) {
  auto next = OpenNumbered(out);
  if (const absl::Status status = next.ok() ? BeginNumbered(**next) : next.status(); !status.ok()) {
    return status;
  }
  return std::exchange(file_, *std::move(next));
}

}  // namespace jtrace
