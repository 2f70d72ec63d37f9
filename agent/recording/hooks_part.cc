#include "agent/recording/hooks_part.h"

#include <array>
#include <vector>

#include "agent/jvm/jvmti_calls.h"
#include "agent/native_hooks/hook_targets.h"

namespace jtrace {
namespace {

// A library's first native method is bound before it runs: hooks in the library miss only the calls
// of its JNI_OnLoad.
constexpr std::array kBindEvents = {JVMTI_EVENT_NATIVE_METHOD_BIND};

}  // namespace

absl::Status HooksPart::Prepare() { return native_hooks::CheckHookSpecs(options_.hooks); }

void HooksPart::Run() {
  source_ = std::make_unique<native_hooks::HookSource>(
      hooks_, jvm_.trace.encoder, jvm_.trace.losses,
      [&groups = jvm_.registries.groups](uint64_t java_tid) {
        return groups.NumberOfThread(java_tid);
      },
      samples_.node_number());
}

// Hooks are set once the writer runs, because their first calls may come at once and must be read.
void HooksPart::WriterStarted(bool is_running) {
  const bool wanted = options_.codes.Has(Code::kNativeHook);
  hooks_.Begin(wanted ? options_.hooks : std::vector<native_hooks::HookSpec>());
  if (!is_running) hooks_.End();
  if (hooks_.has_pending()) jvm::EnableEvents(jvm_.env, kBindEvents).IgnoreError();
}

void HooksPart::StopListening() { jvm::DisableEvents(jvm_.env, kBindEvents).IgnoreError(); }

}  // namespace jtrace
