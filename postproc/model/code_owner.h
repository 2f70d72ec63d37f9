// Whose code a routine is: the program's, the JDK's, the JVM's.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "postproc/model/trace_model.h"

namespace jtrace::postproc {

enum class CodeOwner : uint8_t {
  kProgram,  // methods in scope
  kLibrary,  // other Java methods that are not the JDK's
  kJdk,
  kNative,
  kJvm,
  kKernel,
  kOther,  // markers such as [unmatched], exceptions
};
inline constexpr size_t kCodeOwners = static_cast<size_t>(CodeOwner::kOther) + 1;
// "program", "library", "jdk", …: as in --fold.
std::string_view CodeOwnerName(CodeOwner kind);
constexpr bool IsJavaCode(CodeOwner kind) { return kind <= CodeOwner::kJdk; }

// By routine (RoutineId.value): from its frames in samples, else from its name.
std::vector<CodeOwner> CodeOwners(const TraceModel& model);

// The file of a native function that has no name, "libc.so.6" of "[libc.so.6+0x85f70]"; else empty.
std::string_view FileOfUnnamed(std::string_view routine);

}  // namespace jtrace::postproc
