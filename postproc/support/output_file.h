// The file that -o names: it changes when all is written, or not at all.
#pragma once

#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace jtrace::postproc {

// What is written goes to a file beside it, which takes its place in the end. Pipes and devices are
// written to as they are.
class OutputFile {
 public:
  // An error if it could not be written: told before any work is done.
  static absl::StatusOr<OutputFile> Open(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  // Without Commit, leaves what was there before.
  ~OutputFile();

  std::ostream& stream() { return stream_; }
  absl::Status Commit();

 private:
  OutputFile() = default;
  void Discard();

  std::string path_;
  std::string part_;  // empty: written to as it is, or committed
  std::ofstream stream_;
};

}  // namespace jtrace::postproc
