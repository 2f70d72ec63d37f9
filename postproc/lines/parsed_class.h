// The class file that was parsed last: methods of a class follow each other.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "common/classfile/class_file.h"
#include "postproc/lines/class_source.h"

namespace jtrace::postproc {

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
