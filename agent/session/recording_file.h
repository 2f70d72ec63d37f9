// The file that a recording writes, and the next one (loop=).
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/trace/trace_file.h"

namespace jtrace {

class RecordingFile {
 public:
  // `files_begun`: the number of all recordings so far, %n of out=; incremented here.
  explicit RecordingFile(int& files_begun) : files_begun_(files_begun) {}

  // At `out`; Begin replaces an existing file.
  absl::Status Open(const std::string& out);
  absl::Status Begin();
  // Opens and begins another one. Returns the old one; both exist then.
  absl::StatusOr<std::unique_ptr<trace::TraceFile>> Next(const std::string& out);

  trace::TraceFile& file() const { return *file_; }
  const std::string& path() const { return file_->path(); }
  absl::Time began() const { return began_; }

 private:
  absl::StatusOr<std::unique_ptr<trace::TraceFile>> OpenNumbered(const std::string& out) const;
  absl::Status BeginNumbered(trace::TraceFile& file);

  int& files_begun_;
  std::unique_ptr<trace::TraceFile> file_;
  absl::Time began_;
};

}  // namespace jtrace
