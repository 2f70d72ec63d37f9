// The source of a class's lines: its own file, or those that its map of lines names (JSR 45).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "common/classfile/class_file.h"
#include "common/classfile/source_map.h"
#include "postproc/lines/inlined_lines.h"
#include "postproc/lines/line_profile.h"

namespace jtrace::postproc {

class ClassSource {
 public:
  // `file` outlives it.
  explicit ClassSource(const classfile::ClassFile& file);

  // Whether lines of the class file are not those of its source file.
  bool is_mapped() const { return map_.has_value(); }
  // Gives the lines of `method`, a method of the class, their numbers in the source. Kotlin: lines
  // of inlined functions are moved to `inlined`. Others (JSP): lines of further files are moved to
  // `parts`. Lines that no file has, the compiler's own, are left out.
  void Place(MethodLines& method, std::vector<MethodLines>& parts, InlinedLines& inlined) const;
  // Where a listing of the class's source shows an instruction of that line: inlined code at the
  // line of its call. 0: nowhere.
  int32_t ListedLine(int32_t line) const;

 private:
  void PlaceKotlin(MethodLines& method, InlinedLines& inlined) const;
  void PlaceOthers(MethodLines& method, std::vector<MethodLines>& parts) const;
  // The class's own line, as its source has it.
  bool IsOwn(const classfile::SourceMap::Place& place, int32_t line) const;

  const classfile::ClassFile& file_;
  std::optional<classfile::SourceMap> map_;
  std::optional<classfile::SourceMap> calls_;  // Kotlin: where inlined functions were called
};

// The class file that was parsed last: methods of a class follow each other.
struct ParsedClass {
  // `number` distinguishes the class files; `bytes` outlive it. False: the file is damaged, or has
  // no such method.
  bool Parse(size_t class_number, const std::vector<uint8_t>& bytes, uint32_t method) {
    if (class_number != number) {
      number = class_number;
      source.reset();
      file = classfile::ParseClassFile(bytes);
      if (file.ok()) source.emplace(*file);
    }
    return file.ok() && method < file->methods.size();
  }

  size_t number = std::numeric_limits<size_t>::max();
  absl::StatusOr<classfile::ClassFile> file = absl::UnknownError("none yet");
  std::optional<ClassSource> source;
};

}  // namespace jtrace::postproc
