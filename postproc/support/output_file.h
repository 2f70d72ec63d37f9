// The file that -o names: it changes when everything is written, or not at all.
#pragma once

#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace jtrace::postproc {

// Writes to a file beside it, which replaces it at the end. Pipes and devices are written to
// directly.
class OutputFile {
 public:
  // An error if it could not be written: reported before any work is done.
  static absl::StatusOr<OutputFile> Open(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  // Without Commit, keeps the earlier file.
  ~OutputFile();

  std::ostream& stream() { return stream_; }
  absl::Status Commit();

 private:
  OutputFile() = default;
  void Discard();

  std::string path_;
  std::string part_;  // empty: written to directly, or committed
  std::ofstream stream_;
};

}  // namespace jtrace::postproc
