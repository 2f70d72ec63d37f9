// The ELF objects of this process, and the functions that their symbol tables name.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace jtrace::hooks {

struct LoadedObject {
  std::string path;
  std::string name;                                   // the path's last part
  uintptr_t bias = 0;                                 // what is added to the file's addresses
  std::vector<std::pair<uintptr_t, uintptr_t>> code;  // executable segments, [begin, end)

  bool HasCodeAt(uintptr_t address) const;
};

// All that are loaded now; not the vdso. Takes the loader's lock: not in handlers.
std::vector<LoadedObject> LoadedObjects();

struct Function {
  uintptr_t address = 0;
  uint64_t size = 0;     // 0: not told
  std::string symbol;    // as in the file
  std::string name;      // demangled, for people
  bool is_entry = true;  // `address` is the function's begin, not an instruction inside of it
};

// The functions of an object that `pattern` names: mangled, demangled, demangled without its
// parameters; several if it has * or ?. Each address once, in their order.
std::vector<Function> FindFunctions(const LoadedObject& object, absl::string_view pattern);
// The function that `address` lies in, by symbols with a size; one without a name if none does.
Function FunctionAt(const LoadedObject& object, uintptr_t address);
// The function's name that is most like `wanted`; "" if there is none.
std::string NearestFunction(const LoadedObject& object, absl::string_view wanted);

// An object is not unloaded from now on. Errors: NotFound: it is gone already, or another one of
// its name has come.
absl::Status Pin(const LoadedObject& object);

}  // namespace jtrace::hooks
