// Finds the functions that a hook's spec names.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/native_hooks/hook_spec.h"
#include "agent/native_hooks/object_functions.h"

namespace jtrace::native_hooks {

// A function to hook.
struct Target {
  LoadedObject object;
  Function function;  // the hook is at its address
};

// Functions that one pattern may name.
inline constexpr size_t kMostTargets = 4096;

// At least one. Errors: Unavailable: no such object is loaded; NotFound: it has no such function,
// with the nearest; InvalidArgument: more than kMostTargets, or no instruction begins there.
absl::StatusOr<std::vector<Target>> ResolveHook(const HookSpec& spec,
                                                const std::vector<LoadedObject>& objects);

// Reports a spec that could never be placed when a recording begins: a wrong name in a loaded
// object, a refused function. Changes nothing.
absl::Status CheckHooks(const std::vector<HookSpec>& specs);

// The name of the loaded object that `pattern` was perhaps meant to name.
std::string NearestObject(const std::vector<LoadedObject>& objects, const std::string& pattern);

}  // namespace jtrace::native_hooks
