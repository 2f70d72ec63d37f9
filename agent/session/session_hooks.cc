// Hooks in native code, as far as a recording is concerned.
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "agent/session/session.h"

namespace jtrace {
namespace {

// A library's first native method is bound before it runs: hooks in it miss none of its calls, but
// those of its JNI_OnLoad.
constexpr std::array kBindEvents = {JVMTI_EVENT_NATIVE_METHOD_BIND};

}  // namespace

void Session::StartHooks() {
  if (hook_source_ == nullptr) return;
  const bool wanted = options_.codes.Has(Code::kNativeHook);
  hooks_.Begin(wanted ? options_.hooks : std::vector<hooks::HookSpec>());
  // The writer runs already, and may have given up meanwhile.
  if (!recording_.load()) hooks_.End();
  if (hooks_.has_pending()) jvmti::EnableEvents(env_, kBindEvents).IgnoreError();
}

void Session::DisableBindEvents() { jvmti::DisableEvents(env_, kBindEvents).IgnoreError(); }

void Session::NativeMethodBind() { hooks_.LookForObjects(); }

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
  if (!options_.codes.Has(Code::kNativeHook)) {
    return absl::FailedPreconditionError(
        "codes= of this recording leaves hooks (0x33) out; begin one without");
  }
  if (absl::StripAsciiWhitespace(specs).empty()) return hooks_.Describe();
  auto parsed = hooks::ParseHookSpecs(specs);
  if (!parsed.ok()) return parsed.status();
  return hooks_.Apply(*parsed);
}

}  // namespace jtrace
