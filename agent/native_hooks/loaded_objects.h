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

namespace jtrace::native_hooks {

struct LoadedObject {
  std::string path;
  std::string name;                                   // the path's last part
  uintptr_t bias = 0;                                 // what is added to the file's addresses
  std::vector<std::pair<uintptr_t, uintptr_t>> code;  // executable segments, [begin, end)
  bool is_program = false;                            // the process' own
  std::vector<Elf64_Phdr> headers;                    // as they were mapped
  std::string build_id;                               // of what is mapped; "": it has none

  bool HasCodeAt(uintptr_t address) const;
  // Whether it is the C library, or the library for threads of older versions.
  bool IsLibc() const;
};

// All loaded objects except the vdso. Takes the loader's lock: not in handlers.
std::vector<LoadedObject> LoadedObjects();

// Whether the object's file is still the one that was mapped. Reads the file.
enum class FileState { kSame, kReplaced, kGone };
FileState StateOfFile(const LoadedObject& object);
// A path to read its file: the program's file is readable even if its path no longer exists.
std::string ReadablePath(const LoadedObject& object);

// Keeps an object loaded while it lives. Null: it is already unloaded, or replaced by another with
// its name.
struct CloseObject {
  void operator()(void* handle) const;
};
using ObjectHandle = std::unique_ptr<void, CloseObject>;
ObjectHandle Hold(const LoadedObject& object, const link_map** map = nullptr);

// Keeps an object loaded from now on. Errors: NotFound: it is already unloaded, or replaced by
// another with its name.
absl::Status Pin(const LoadedObject& object);

}  // namespace jtrace::native_hooks
