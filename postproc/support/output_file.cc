#include "postproc/support/output_file.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "postproc/support/error_kind.h"
#include "postproc/support/out_of_memory.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

absl::Status CannotWrite(const std::string& path) {
  return OfKind(ErrorKind::kOutput, absl::UnavailableError(StrCat("cannot write ", path)));
}

}  // namespace

absl::StatusOr<OutputFile> OutputFile::Open(const std::string& path) {
  OutputFile file;
  std::error_code none;
  // The target of a link changes, not the link.
  file.path_ = std::filesystem::weakly_canonical(path, none).string();
  if (file.path_.empty()) file.path_ = path;
  const auto status = std::filesystem::status(file.path_, none);
  if (std::filesystem::exists(status) && access(file.path_.c_str(), W_OK) != 0) {
    return CannotWrite(path);
  }
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status)) {
    file.part_ = StrCat(file.path_, ".", getpid(), ".part");
    RemoveWhenOutOfMemory(file.part_);
  }
  file.stream_.open(file.part_.empty() ? file.path_ : file.part_,
                    std::ios::binary | std::ios::trunc);
  if (!file.stream_) {
    file.part_.clear();
    return CannotWrite(path);
  }
  return file;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      part_(std::exchange(other.part_, {})),
      stream_(std::move(other.stream_)) {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  Discard();
  path_ = std::move(other.path_);
  part_ = std::exchange(other.part_, {});
  stream_ = std::move(other.stream_);
  return *this;
}

OutputFile::~OutputFile() { Discard(); }

void OutputFile::Discard() {
  if (part_.empty()) return;
  std::error_code none;
  std::filesystem::remove(part_, none);
  part_.clear();
  RemoveWhenOutOfMemory("");
}

absl::Status OutputFile::Commit() {
  stream_.close();
  if (!stream_) return CannotWrite(path_);
  if (part_.empty()) return absl::OkStatus();
  std::error_code error;
  std::filesystem::rename(part_, path_, error);
  if (error) return CannotWrite(path_);
  part_.clear();
  RemoveWhenOutOfMemory("");
  return absl::OkStatus();
}

}  // namespace jtrace::postproc
