// Hooks in native code, as far as a recording is concerned.
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "agent/session.h"

namespace jtrace {

void Session::StartHooks() {
  if (hook_source_ == nullptr) return;
  const bool wanted = options_.codes.Has(Code::kNativeHook);
  hooks_.Begin(wanted ? options_.hooks : std::vector<hooks::HookSpec>());
}

absl::StatusOr<std::string> Session::Hook(absl::string_view specs) {
  {
    absl::MutexLock lock(&lifecycle_);
    if (!recording_.load()) {
      return absl::FailedPreconditionError("no recording runs; begin one with start");
    }
    if (hook_source_ == nullptr) {
      return absl::FailedPreconditionError(
          "this recording takes no samples, and hooks need the threads that these know; begin one "
          "with mode=merged");
    }
  }
  if (absl::StripAsciiWhitespace(specs).empty()) return hooks_.Describe();
  auto parsed = hooks::ParseHookSpecs(specs);
  if (!parsed.ok()) return parsed.status();
  return hooks_.Apply(*parsed);
}

}  // namespace jtrace
