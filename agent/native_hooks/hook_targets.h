// Finds the functions that a hook's spec names.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "agent/native_hooks/object_functions.h"

namespace jtrace::native_hooks {

// The values of hook=: libc.so.6!malloc:count. Pure.

// The data that a hook records.
enum class HookKind {
  kCount,   // calls, by caller
  kUnwind,  // and the stack of each (0x41)
  kTime,    // and how long each took
  kOff,     // removes the hook
};

struct HookSpec {
  std::string object;  // file name of a loaded ELF object; may have * and ?
  std::string symbol;  // a function's name, mangled or not, with * and ?; or 0x…, from the file
  HookKind kind = HookKind::kCount;

  // A Java method, CLASS::METHOD. The JIT moves, inlines and discards its code, so it gets a probe,
  // and no int3 (S3.24).
  bool IsMethod() const { return object.empty(); }

  bool operator==(const HookSpec&) const = default;
};

// "libjvm.so!os::malloc:unwind". Errors: InvalidArgument, with what is wrong.
absl::StatusOr<HookSpec> ParseHookSpec(absl::string_view text);
// Several of them, separated by ';'; at least one.
absl::StatusOr<std::vector<HookSpec>> ParseHookSpecs(absl::string_view text);
std::string HookSpecText(const HookSpec& spec);
absl::string_view HookKindName(HookKind kind);

// A function to hook.
struct Target {
  LoadedObject object;
  Function function;  // the hook is at its address
};

// Functions that one pattern may name.
inline constexpr size_t kMaxTargets = 4096;

// At least one. Errors: Unavailable: no such object is loaded; NotFound: it has no such function,
// with the nearest; InvalidArgument: more than kMaxTargets, or no instruction begins there.
absl::StatusOr<std::vector<Target>> ResolveHook(const HookSpec& spec,
                                                const std::vector<LoadedObject>& objects);

// Reports a spec that could never be placed when a recording begins: a wrong name in a loaded
// object, a refused function. Changes nothing.
absl::Status CheckHooks(const std::vector<HookSpec>& specs);

// The name of the loaded object that `pattern` was perhaps meant to name.
std::string NearestObject(const std::vector<LoadedObject>& objects, const std::string& pattern);

}  // namespace jtrace::native_hooks
