// The file that a recording writes, and the next one (loop=, dump).
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/base/losses.h"
#include "agent/recording/ended_files.h"
#include "agent/trace/trace_file.h"

namespace jtrace {

class RecordingFile {
 public:
  // `files_begun`: the number of all files so far, %n of out=; incremented with each.
  RecordingFile(int& files_begun, Losses& losses) : files_begun_(files_begun), ended_(losses) {}

  // Sets what stays of the ended files. Before Open.
  void SetKeep(const Keep& keep) { ended_.SetKeep(keep); }
  // Opens the file at `out`, where Begin replaces an existing one.
  absl::Status Open(const std::string& out);
  absl::Status Begin();
  // Opens and begins another file. Returns the old one, which is still open.
  absl::StatusOr<std::unique_ptr<trace::TraceFile>> Next(const std::string& out);
  // Takes the old file, once it is complete.
  void AddEnded(std::unique_ptr<trace::TraceFile> file) { ended_.Add(std::move(file)); }

  trace::TraceFile& file() const { return *file_; }
  const std::string& path() const { return file_->path(); }
  absl::Time began() const { return began_; }
  EndedFiles& ended() { return ended_; }
  const EndedFiles& ended() const { return ended_; }

 private:
  absl::StatusOr<std::unique_ptr<trace::TraceFile>> OpenNumbered(const std::string& out);
  absl::Status BeginNumbered(trace::TraceFile& file);

  int& files_begun_;
  EndedFiles ended_;  // before file_, which uses it
  std::unique_ptr<trace::TraceFile> file_;
  absl::Time began_;
};

}  // namespace jtrace
