#include "postproc/source/class_path_files.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
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

// As java.util.jar.JarFile decides it.
bool IsMultiRelease(const ZipArchive& zip) {
  const auto manifest =
      std::find_if(zip.entries().begin(), zip.entries().end(),
                   [](const auto& it) { return it.name == "META-INF/MANIFEST.MF"; });
  if (manifest == zip.entries().end()) return false;
  const absl::StatusOr<std::string> text = zip.Read(*manifest);
  if (!text.ok()) return false;
  for (std::string_view line : Split(*text, '\n')) {
    ConsumeSuffix(line, "\r");
    if (line.empty()) return false;  // the main section ends
    if (absl::AsciiStrToLower(std::string(line)) == "multi-release: true") return true;
  }
  return false;
}

// Of "META-INF/versions/17/a/B.class" 17, and `path` becomes "a/B.class"; 0 of a class for all.
int64_t TakeRelease(std::string_view& path) {
  constexpr int64_t kFirstVersioned = 9;
  std::string_view rest = path;
  int64_t release = 0;
  if (!ConsumePrefix(rest, "META-INF/versions/")) return 0;
  const size_t slash = rest.find('/');
  if (slash == std::string_view::npos || !ParseInteger(rest.substr(0, slash), release) ||
      release < kFirstVersioned) {
    return 0;
  }
  path = rest.substr(slash + 1);
  return release;
}

// The class files that a JVM of that release would load, in the archive's order.
std::vector<const ZipEntry*> ClassesFor(int64_t release, const ZipArchive& zip) {
  if (release > 0 && !IsMultiRelease(zip)) release = 0;
  std::vector<const ZipEntry*> chosen;
  ViewMap<std::pair<size_t, int64_t>> known;  // by path: where in `chosen`, for which release
  for (const ZipEntry& entry : zip.entries()) {
    std::string_view path = entry.name;
    const int64_t its_release = TakeRelease(path);
    if (!IsClassFile(path) || its_release > release) continue;
    const auto [at, is_new] = known.try_emplace(path, chosen.size(), its_release);
    if (is_new) {
      chosen.push_back(&entry);
    } else if (its_release > at->second.second) {
      chosen[at->second.first] = &entry;
      at->second.second = its_release;
    }
  }
  return chosen;
}

absl::StatusOr<size_t> ReadJar(const std::string& jar, int64_t release, AddClass add,
                               uint64_t& unreadable) {
  const absl::StatusOr<ZipArchive> zip = ZipArchive::Open(jar);
  if (!zip.ok()) return zip.status();
  const std::vector<const ZipEntry*> classes = ClassesFor(release, *zip);
  for (const ZipEntry* const entry : classes) {
    const absl::StatusOr<std::string> content = zip->Read(*entry);
    if (content.ok()) {
      add(AsBytes(*content));
    } else {
      ++unreadable;
    }
  }
  return classes.size();
}

}  // namespace

absl::Status ReadClassFiles(absl::Span<const std::string> places, int64_t release, AddClass add,
                            uint64_t& unreadable) {
  for (const std::string& place : places) {
    std::error_code error;
    const absl::StatusOr<size_t> found = fs::is_directory(place, error)
                                             ? ReadFolder(place, add, unreadable)
                                             : ReadJar(place, release, add, unreadable);
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
