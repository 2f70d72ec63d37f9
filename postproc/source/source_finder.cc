#include "postproc/source/source_finder.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "postproc/reader/input_file.h"

namespace jtrace::postproc {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLanguages[] = {"java", "kotlin", "scala", "groovy", "clojure"};

// Folders and files in `folder`, by name; none if it cannot be read.
std::vector<fs::path> Listed(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  fs::directory_iterator next(folder, fs::directory_options::skip_permission_denied, error);
  while (!error && next != fs::directory_iterator()) {
    found.push_back(next->path());
    next.increment(error);
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool IsFolder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

// src/main/java, src/test/kotlin, …
void AddSourceSets(const fs::path& project, std::vector<std::string>& folders) {
  for (const fs::path& set : Listed(project / "src")) {
    for (const std::string_view language : kLanguages) {
      if (const fs::path folder = set / language; IsFolder(folder)) {
        folders.push_back(folder.string());
      }
    }
  }
}

bool IsSourceArchive(const fs::path& path) {
  const std::string name = path.filename().string();
  return name == "src.zip" || name.ends_with("-sources.jar");
}

std::vector<std::string> LinesOf(std::string_view text) {
  std::vector<std::string> lines;
  for (std::string_view line : Split(text, '\n')) {
    ConsumeSuffix(line, "\r");
    lines.emplace_back(line);
  }
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

// Files of these languages may be in any folder.
bool IsOfFreeFolder(std::string_view path) {
  return path.ends_with(".kt") || path.ends_with(".scala");
}

// Whether the source declares the package of `path`: "com.acme" of "com/acme/Util.kt".
bool DeclaresPackageOf(std::string_view path, const std::vector<std::string>& lines) {
  std::string package(path.substr(0, std::min(path.rfind('/'), path.size())));
  std::replace(package.begin(), package.end(), '/', '.');
  if (path.find('/') == std::string_view::npos) package.clear();
  for (std::string_view line : lines) {
    if (!ConsumePrefix(line, "package ")) continue;
    const size_t end = line.find_first_of(" \t;{/");
    return line.substr(0, end) == package;
  }
  return package.empty();
}

// The most files and folders that are looked at for such files.
constexpr int kMostEntries = 200'000;

StringMap<std::vector<std::string>> FilesOfFreeFolders(const std::string& folder) {
  StringMap<std::vector<std::string>> files;
  std::error_code error;
  fs::recursive_directory_iterator next(folder, fs::directory_options::skip_permission_denied,
                                        error);
  for (int left = kMostEntries; left > 0 && !error; --left) {
    if (next == fs::recursive_directory_iterator()) break;
    const std::string path = next->path().string();
    if (IsOfFreeFolder(path)) files[next->path().filename().string()].push_back(path);
    next.increment(error);
  }
  for (auto& [name, paths] : files) std::sort(paths.begin(), paths.end());
  return files;
}

std::string_view LastName(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

}  // namespace

absl::StatusOr<SourceFinder> SourceFinder::Open(absl::Span<const std::string> places) {
  SourceFinder finder;
  for (const std::string& place : places) {
    const absl::Status status =
        IsFolder(place) ? finder.AddFolder(place) : finder.AddArchive(place);
    if (!status.ok()) {
      return absl::Status(status.code(), StrCat(std::string(status.message()), " (--source)"));
    }
  }
  return finder;
}

absl::Status SourceFinder::AddArchive(const std::string& path) {
  absl::StatusOr<ZipArchive> zip = ZipArchive::Open(path);
  if (!zip.ok()) return zip.status();
  Archive archive{path, *std::move(zip), {}};
  const std::vector<ZipEntry>& entries = archive.zip.entries();
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].name.ends_with(".class")) continue;
    archive.by_name[std::string(LastName(entries[i].name))].push_back(i);
  }
  roots_.push_back({"", archives_.size()});
  archives_.push_back(std::move(archive));
  return absl::OkStatus();
}

absl::Status SourceFinder::AddFolder(const std::string& path) {
  std::vector<std::string> folders = {path};
  AddSourceSets(path, folders);
  const std::vector<fs::path> listed = Listed(path);
  for (const fs::path& child : listed) {
    if (IsFolder(child)) AddSourceSets(child, folders);
  }
  for (std::string& folder : folders) roots_.push_back({std::move(folder)});
  for (const fs::path& child : listed) {
    if (!IsSourceArchive(child)) continue;
    if (absl::Status status = AddArchive(child.string()); !status.ok()) return status;
  }
  return absl::OkStatus();
}

std::optional<FoundSource> SourceFinder::FindIn(const Archive& archive,
                                                std::string_view path) const {
  const auto found = archive.by_name.find(LastName(path));
  if (found == archive.by_name.end()) return std::nullopt;
  // The shortest: the fewest folders before the path.
  const ZipEntry* best = nullptr;
  for (const size_t index : found->second) {
    const ZipEntry& entry = archive.zip.entries()[index];
    if (entry.name != path && !entry.name.ends_with(StrCat("/", path))) continue;
    if (best == nullptr || entry.name.size() < best->name.size()) best = &entry;
  }
  if (best == nullptr) return std::nullopt;
  const absl::StatusOr<std::string> content = archive.zip.Read(*best);
  if (!content.ok()) return std::nullopt;
  return FoundSource{StrCat(archive.path, "!", best->name), "", LinesOf(*content)};
}

std::optional<FoundSource> SourceFinder::FindByPackage(const std::string& folder,
                                                       std::string_view path) const {
  auto known = elsewhere_.find(folder);
  if (known == elsewhere_.end()) {
    known = elsewhere_.emplace(folder, FilesOfFreeFolders(folder)).first;
  }
  const auto named = known->second.find(LastName(path));
  if (named == known->second.end()) return std::nullopt;
  for (const std::string& file : named->second) {
    const absl::StatusOr<InputFile> opened = InputFile::OpenRegular(file);
    if (!opened.ok() || opened->content().size() > ZipArchive::kMostContent) continue;
    std::vector<std::string> lines = LinesOf(opened->content());
    if (DeclaresPackageOf(path, lines)) return FoundSource{file, file, std::move(lines)};
  }
  return std::nullopt;
}

std::optional<FoundSource> SourceFinder::Find(std::string_view path) const {
  if (path.empty()) return std::nullopt;
  for (const Root& root : roots_) {
    if (root.folder.empty()) {
      if (auto found = FindIn(archives_[root.archive], path); found.has_value()) return found;
      continue;
    }
    const std::string file = (fs::path(root.folder) / path).string();
    const absl::StatusOr<InputFile> opened = InputFile::OpenRegular(file);
    if (!opened.ok() || opened->content().size() > ZipArchive::kMostContent) continue;
    return FoundSource{file, file, LinesOf(opened->content())};
  }
  if (!IsOfFreeFolder(path)) return std::nullopt;
  for (const Root& root : roots_) {
    if (root.folder.empty()) continue;
    if (auto found = FindByPackage(root.folder, path); found.has_value()) return found;
  }
  return std::nullopt;
}

}  // namespace jtrace::postproc
