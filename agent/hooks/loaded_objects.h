// The ELF objects of this process.
#pragma once

#include <elf.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

struct link_map;

namespace jtrace::hooks {

struct LoadedObject {
  std::string path;
  std::string name;                                   // the path's last part
  uintptr_t bias = 0;                                 // what is added to the file's addresses
  std::vector<std::pair<uintptr_t, uintptr_t>> code;  // executable segments, [begin, end)
  bool is_program = false;                            // the process' own
  std::vector<Elf64_Phdr> headers;                    // as they were mapped
  std::string build_id;                               // of what is mapped; "": it has none

  bool HasCodeAt(uintptr_t address) const;
  // Of the C library, or of the one for threads that older ones had.
  bool IsLibc() const;
};

// All that are loaded now; not the vdso. Takes the loader's lock: not in handlers.
std::vector<LoadedObject> LoadedObjects();

// Whether its file is what was mapped from it. Reads the file.
enum class FileState { kSame, kReplaced, kGone };
FileState StateOfFile(const LoadedObject& object);
// Where to read its file: that of the program is there even when its path is not.
std::string ReadablePath(const LoadedObject& object);

// Keeps an object loaded while it lives. Null: it is gone already, or another of its name has come.
struct CloseObject {
  void operator()(void* handle) const;
};
using ObjectHandle = std::unique_ptr<void, CloseObject>;
ObjectHandle Hold(const LoadedObject& object, const link_map** map = nullptr);

// An object is not unloaded from now on. Errors: NotFound: it is gone already, or another one of
// its name has come.
absl::Status Pin(const LoadedObject& object);

}  // namespace jtrace::hooks
