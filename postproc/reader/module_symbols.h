// The symbols of a module that the traced program had mapped: its file's, and those that were
// stripped off into a file of their own.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "postproc/model/elf_symbols.h"
#include "postproc/reader/input_file.h"

namespace jtrace::postproc {

class ModuleSymbols {
 public:
  // Reads the files of the module `path` with that build id (empty: not known). A file of another
  // build would give wrong names and is left alone.
  //
  // `folders` are looked at before the system's own places: in FOLDER/path, FOLDER/name for the
  // module, and FOLDER/.build-id/ab/cdef….debug, FOLDER/path-of-the-debug-file for its symbols; the
  // system's are beside the module, .debug/ beside it, and /usr/lib/debug.
  ModuleSymbols(std::string_view path, std::string_view build_id,
                const std::vector<std::string>& folders);

  // The function at `file_offset` of the module, as the linker spells it; empty: none is known.
  std::string_view FindByFileOffset(uint64_t file_offset) const;

 private:
  struct File {
    InputFile content;
    ElfSymbols symbols;
  };
  static std::unique_ptr<File> Read(const std::string& path);
  static std::unique_ptr<File> ReadVdso();
  void OpenModule(std::string_view path, std::string_view build_id,
                  const std::vector<std::string>& folders);
  void OpenDebugFile(std::string_view path, const std::vector<std::string>& folders);

  std::unique_ptr<File> module_;
  std::unique_ptr<File> debug_;
};

}  // namespace jtrace::postproc
