// The values of hook=: libc.so.6!malloc:count. Pure.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace jtrace::native_hooks {

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

}  // namespace jtrace::native_hooks
