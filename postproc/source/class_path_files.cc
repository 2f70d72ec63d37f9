#include "postproc/source/class_path_files.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "absl/status/statusor.h"
#include "postproc/reader/input_file.h"
#include "postproc/source/zip_archive.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

namespace fs = std::filesystem;

using AddClass = absl::FunctionRef<void(absl::Span<const uint8_t> bytes)>;

// Of a path in a folder or jar.
bool IsClassFile(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.ends_with(".class") && name != "module-info.class" && name != "package-info.class" &&
         !path.starts_with("META-INF/");
}

absl::Span<const uint8_t> AsBytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// The class files below `folder`, by path. Links to folders are not followed.
std::vector<fs::path> ClassFilesIn(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  fs::recursive_directory_iterator next(folder, fs::directory_options::skip_permission_denied,
                                        error);
  while (!error && next != fs::recursive_directory_iterator()) {
    const std::string path = next->path().lexically_relative(folder).string();
    if (IsClassFile(path)) files.push_back(next->path());
    next.increment(error);
  }
  std::sort(files.begin(), files.end());
  return files;
}

size_t ReadFolder(const std::string& folder, AddClass add, uint64_t& unreadable) {
  const std::vector<fs::path> files = ClassFilesIn(folder);
  for (const fs::path& path : files) {
    const absl::StatusOr<InputFile> file = InputFile::OpenRegular(path.string());
    if (file.ok() && file->content().size() <= ZipArchive::kMostContent) {
      add(AsBytes(file->content()));
    } else {
      ++unreadable;
    }
  }
  return files.size();
}

absl::StatusOr<size_t> ReadJar(const std::string& jar, AddClass add, uint64_t& unreadable) {
  const absl::StatusOr<ZipArchive> zip = ZipArchive::Open(jar);
  if (!zip.ok()) return zip.status();
  size_t found = 0;
  for (const ZipEntry& entry : zip->entries()) {
    if (!IsClassFile(entry.name)) continue;
    ++found;
    const absl::StatusOr<std::string> content = zip->Read(entry);
    if (content.ok()) {
      add(AsBytes(*content));
    } else {
      ++unreadable;
    }
  }
  return found;
}

}  // namespace

absl::Status ReadClassFiles(absl::Span<const std::string> places, AddClass add,
                            uint64_t& unreadable) {
  for (const std::string& place : places) {
    std::error_code error;
    const absl::StatusOr<size_t> found = fs::is_directory(place, error)
                                             ? ReadFolder(place, add, unreadable)
                                             : ReadJar(place, add, unreadable);
    if (!found.ok()) {
      return absl::Status(found.status().code(),
                          StrCat(std::string(found.status().message()), " (--classes)"));
    }
    if (*found == 0) {
      return absl::NotFoundError(
          StrCat(place, " has no class file; --classes takes folders and jars of class files"));
    }
  }
  return absl::OkStatus();
}

}  // namespace jtrace::postproc
