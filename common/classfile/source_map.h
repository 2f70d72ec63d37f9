// Where the lines of a class file come from (JSR 45): the text of its attribute
// SourceDebugExtension. Kotlin writes it for inlined functions, compilers of JSP for pages.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace jtrace::classfile {

class SourceMap {
 public:
  struct File {
    std::string_view name;  // "Util.kt"
    std::string_view
        path;  // as the compiler writes it: of Kotlin a class, "app/UtilKt"; else a file
  };
  struct Place {
    const File* file = nullptr;
    int32_t line = 0;
  };

  // The default stratum of `text`, which outlives it, or the one of that name. None: the text is
  // not a map, or lacks that stratum.
  static std::optional<SourceMap> Parse(std::string_view text);
  static std::optional<SourceMap> ParseStratum(std::string_view text, std::string_view stratum);

  // "Kotlin", "JSP"
  std::string_view stratum() const { return stratum_; }
  // Of a line number of the class file; none: the stratum does not have it.
  std::optional<Place> At(int32_t line) const;

 private:
  // Lines of the class file from `first` to `last`, `step` of which are one line of the source.
  struct Range {
    int32_t first = 0;
    int32_t last = 0;
    int32_t step = 1;
    int32_t source = 0;
    uint32_t file = 0;  // index into files_
  };
  class Lines;

  void ReadFiles(Lines& lines);
  void ReadRanges(Lines& lines);
  void AddRange(std::string_view line, int32_t& file_id);

  std::string_view stratum_;
  std::vector<File> files_;
  absl::flat_hash_map<int32_t, uint32_t> file_numbers_;  // by the map's own numbers
  std::vector<Range> ranges_;                            // by their first line
};

}  // namespace jtrace::classfile
