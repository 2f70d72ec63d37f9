#include "agent/session/recording_file.h"

#include <unistd.h>

#include <utility>

#include "absl/time/clock.h"
#include "agent/base/clock.h"

namespace jtrace {

absl::StatusOr<std::unique_ptr<trace::TraceFile>> RecordingFile::OpenNumbered(
    const std::string& out) const {
  const auto now_s = static_cast<int64_t>(UnixNanos() / 1'000'000'000u);
  return trace::TraceFile::Open(trace::ExpandPath(out, getpid(), now_s, files_begun_ + 1));
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
