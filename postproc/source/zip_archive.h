// Reads archives in the zip format: jars of sources, src.zip of a JDK. Every offset and size in
// them is checked: they may be damaged or malicious.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "postproc/reader/input_file.h"

namespace jtrace::postproc {

// A file in an archive.
struct ZipEntry {
  std::string_view name;  // with its folders, as the archive has it; valid as long as the archive
  uint16_t method = 0;    // how it is compressed
  uint32_t crc = 0;
  uint64_t packed = 0;  // bytes
  uint64_t size = 0;    // bytes of its content
  uint64_t header = 0;  // where its local header begins
};

class ZipArchive {
 public:
  // The most bytes of a file that Read returns: more is not a source.
  static constexpr uint64_t kMostContent = uint64_t{64} << 20;

  // An error names `path`.
  static absl::StatusOr<ZipArchive> Open(const std::string& path);
  static absl::StatusOr<ZipArchive> FromFile(InputFile file, const std::string& path);

  // In the order of the directory, without folders.
  const std::vector<ZipEntry>& entries() const { return entries_; }
  // The content. `entry` is one of these.
  absl::StatusOr<std::string> Read(const ZipEntry& entry) const;

 private:
  ZipArchive(InputFile file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  // Fills entries_.
  absl::Status ReadDirectory();
  absl::Status Damaged(std::string_view what) const;

  InputFile file_;
  std::string path_;
  std::vector<ZipEntry> entries_;
};

}  // namespace jtrace::postproc
