// Finds the text of source files where --source says: in folders and archives.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "postproc/source/zip_archive.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {

// A source file, found.
struct FoundSource {
  std::string where;               // its path; in an archive: ARCHIVE!PATH
  std::string file;                // its path; empty: it is in an archive
  std::vector<std::string> lines;  // without their ends
};

class SourceFinder {
 public:
  // Nothing is found.
  SourceFinder() = default;
  // `places` are folders and archives. In a folder, sources are looked for in itself; in
  // src/SET/LANGUAGE of it and of each of its folders (Maven, Gradle); and in its *-sources.jar and
  // src.zip. An error if a place cannot be read.
  static absl::StatusOr<SourceFinder> Open(absl::Span<const std::string> places);

  // `path`: "com/acme/Outer.java". A Kotlin or Scala file may be in another folder than that of its
  // package: then it is the one of that name that declares the package. In an archive, folders may
  // precede it ("java.base/"). What comes first in `places` counts. None: not found, or unreadable.
  std::optional<FoundSource> Find(std::string_view path) const;
  bool has_places() const { return !roots_.empty(); }

 private:
  // An archive with its files by their last name.
  struct Archive {
    std::string path;
    ZipArchive zip;
    StringMap<std::vector<size_t>> by_name;
  };
  // A folder or an archive.
  struct Root {
    std::string folder;  // empty: an archive
    size_t archive = 0;
  };

  absl::Status AddArchive(const std::string& path);
  absl::Status AddFolder(const std::string& path);
  std::optional<FoundSource> FindIn(const Archive& archive, std::string_view path) const;
  std::optional<FoundSource> FindByPackage(const std::string& folder, std::string_view path) const;

  std::vector<Root> roots_;
  std::vector<Archive> archives_;
  // By folder: the files below it of languages whose files need not be in their package's folder,
  // by their last name. Filled when the first such file is not where its package says.
  mutable StringMap<StringMap<std::vector<std::string>>> elsewhere_;
};

}  // namespace jtrace::postproc
