// The functions that the symbol tables of an object name: those of its file or, where another file
// has taken its place or none is there, of those that it exports what is mapped.
#pragma once

#include <elf.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

struct link_map;

namespace jtrace::native_hooks {

// The ELF objects of this process.
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
ObjectHandle KeepLoaded(const LoadedObject& object, const link_map** map = nullptr);

// Keeps an object loaded from now on. Errors: NotFound: it is already unloaded, or replaced by
// another with its name.
absl::Status Pin(const LoadedObject& object);

// A function that a symbol names.
struct Function {
  uintptr_t address = 0;
  uint64_t size = 0;     // 0: unknown
  std::string symbol;    // as in the file
  std::string name;      // demangled, for people
  bool is_entry = true;  // `address` is the function's begin, not an instruction inside of it
};

// The functions of an object that `pattern` names: mangled, demangled (">>" may stand for "> >"),
// demangled without its parameters; several if it has * or ?, unless it is with these the name of
// one. Each address once, in their order. Of libc the exported ones alone: its own run where
// signals are blocked.
std::vector<Function> FindFunctions(const LoadedObject& object, absl::string_view pattern);
// The function that `address` lies in, by symbols with a size; one without a name if none does.
Function FunctionAt(const LoadedObject& object, uintptr_t address);
// The function's name that is most like `wanted`, and another; "" if there is none.
std::string NearestFunction(const LoadedObject& object, absl::string_view wanted);
// Where the loader found what the object exports as `symbol`, if that is not in the object: libc
// takes time() from the kernel's vdso. 0: it does not.
uintptr_t ChosenElsewhere(const LoadedObject& object, absl::string_view symbol);

// The symbols that an object exports, read from where the loader has mapped them.

// Calls `visit` with the defined ones; with none if the object is unloaded, or its tables are
// incomplete. Takes the loader's lock: not in handlers.
void ForEachMappedSymbol(const LoadedObject& object,
                         absl::FunctionRef<void(const char*, const Elf64_Sym&)> visit);

}  // namespace jtrace::native_hooks
