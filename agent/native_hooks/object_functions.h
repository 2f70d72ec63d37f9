// Finds functions of loaded ELF objects by name and by address, in the symbol tables of their
// files. If a file was replaced or deleted, only the exported symbols are known, from the mapped
// object. Any thread but signal handlers.
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

// An ELF object of this process.
struct LoadedDso {
  std::string path;
  std::string name;                                   // the path's last part
  uintptr_t bias = 0;                                 // added to the file's addresses
  std::vector<std::pair<uintptr_t, uintptr_t>> code;  // executable segments, [begin, end)
  bool is_program = false;                            // it is the executable
  std::vector<Elf64_Phdr> headers;                    // program headers, as mapped
  std::string build_id;                               // of what is mapped; "": it has none

  bool HasCodeAt(uintptr_t address) const;
  // Whether it is the C library, or the library for threads of older versions.
  bool IsLibc() const;
};

// Returns all loaded objects except the vdso. Takes the loader's lock.
std::vector<LoadedDso> LoadedDsos();

// Whether the object's file is still the one that was mapped. Reads the file.
enum class FileState { kSame, kReplaced, kGone };
FileState StateOfFile(const LoadedDso& object);
// Returns a path that opens its file. The program's can be read even if it was deleted.
std::string ReadablePath(const LoadedDso& object);

// Keeps an object loaded while the handle lives. Null: it is already unloaded, or replaced by
// another with its name. `map` gets the loader's entry of it.
struct CloseObject {
  void operator()(void* handle) const;
};
using ObjectHandle = std::unique_ptr<void, CloseObject>;
ObjectHandle KeepLoaded(const LoadedDso& object, const link_map** map = nullptr);

// Keeps an object loaded until the process ends. Errors: NotFound: it is already unloaded, or
// replaced by another with its name.
absl::Status Pin(const LoadedDso& object);

// A function that a symbol names.
struct Function {
  uintptr_t address = 0;
  uint64_t size = 0;     // 0: unknown
  std::string symbol;    // as in the file
  std::string name;      // demangled, for people
  bool is_entry = true;  // `address` is the function's begin, not an instruction inside of it
};

// Returns the functions that `pattern` names: mangled, demangled (">>" may stand for "> >"), or
// demangled without parameters. With * or ? it is a glob, unless a function has exactly that name.
// Each address occurs once, in ascending order. Of libc only exported functions are found: others
// run where signals are blocked.
std::vector<Function> FindFunctions(const LoadedDso& object, absl::string_view pattern);
// Returns the function that `address` lies in by its symbol's size; without a name: there is none.
Function FunctionAt(const LoadedDso& object, uintptr_t address);
// Returns the symbol of a function that is most like `wanted`, but not equal; "": there is none.
std::string NearestFunction(const LoadedDso& object, absl::string_view wanted);
// Returns the address of the exported function `symbol` if the loader has chosen one outside of the
// object: libc takes time() from the kernel's vdso. 0: it is in the object.
uintptr_t IfuncTargetElsewhere(const LoadedDso& object, absl::string_view symbol);

// Calls `visit` with the symbols that an object exports, read where the loader has mapped them;
// with none if the object is unloaded, or its tables are incomplete. Takes the loader's lock.
void ForEachMappedSymbol(const LoadedDso& object,
                         absl::FunctionRef<void(const char*, const Elf64_Sym&)> visit);

}  // namespace jtrace::native_hooks
