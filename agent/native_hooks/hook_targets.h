// Parses the values of hook= ("libc.so.6!malloc:count"), and finds the functions that they name.
// Any thread but signal handlers.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "agent/native_hooks/object_functions.h"

namespace jtrace::native_hooks {

// The data that a hook records.
enum class HookKind {
  kCount,   // calls, by caller
  kUnwind,  // also the stack of each call (0x41)
  kTime,    // also how long each call took
  kOff,     // removes the hook
};

struct HookSpec {
  std::string object;  // file name of an ELF object; may have * and ?
  std::string symbol;  // mangled or demangled, may have * and ?; or 0x…, an address of the file
  HookKind kind = HookKind::kCount;

  // Whether it names a Java method, CLASS::METHOD. The JIT moves, inlines and discards its code, so
  // it gets a probe instead of an int3.
  bool IsMethod() const { return object.empty(); }

  bool operator==(const HookSpec&) const = default;
};

// Parses "libjvm.so!os::malloc:unwind". Errors: InvalidArgument, with what is wrong.
absl::StatusOr<HookSpec> ParseHookSpec(absl::string_view text);
// Parses one or more of them, separated by ';'.
absl::StatusOr<std::vector<HookSpec>> ParseHookSpecs(absl::string_view text);
std::string HookSpecText(const HookSpec& spec);
absl::string_view HookKindName(HookKind kind);

// A function to hook.
struct Target {
  LoadedDso object;
  Function function;  // the hook is at its address
};

// The most functions that one pattern may name.
inline constexpr size_t kMaxTargets = 4096;

// Returns the functions that a spec names, at least one. Errors: Unavailable: no such object is
// loaded; NotFound: it has no such function, with the nearest; InvalidArgument: more than
// kMaxTargets, or no instruction begins there.
absl::StatusOr<std::vector<Target>> ResolveHook(const HookSpec& spec,
                                                const std::vector<LoadedDso>& objects);

// Returns the error of a spec that could never be placed: a wrong name in a loaded object, a
// refused function. Called before a recording begins; changes nothing.
absl::Status CheckHookSpecs(const std::vector<HookSpec>& specs);

// Returns the name of the loaded object that is most like `pattern`.
std::string NearestObject(const std::vector<LoadedDso>& objects, const std::string& pattern);

}  // namespace jtrace::native_hooks
