// The symbols that an object exports, read from where the loader has mapped them.
#pragma once

#include <elf.h>

#include "absl/functional/function_ref.h"
#include "agent/hooks/loaded_objects.h"

namespace jtrace::hooks {

// Calls `visit` with the defined ones; with none if the object is unloaded, or its tables are
// incomplete. Takes the loader's lock: not in handlers.
void ForEachMappedSymbol(const LoadedObject& object,
                         absl::FunctionRef<void(const char*, const Elf64_Sym&)> visit);

}  // namespace jtrace::hooks
