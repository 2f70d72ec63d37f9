#include "agent/recording/jvm_state.h"

namespace jtrace {

Registries::Registries(JavaVM* vm, jvmtiEnv* env, TraceState& trace)
    : loaders(vm, env),
      classes(vm, env, trace.clock, loaders, trace.encoder),
      code(env, trace.clock, classes, trace.encoder,
           reinterpret_cast<const void*>(vm->functions->GetEnv)),
      threads(thread_table, env, trace.clock, trace.encoder),
      groups(threads, trace.encoder) {}

const void* JvmState::libjvm_address() const {
  return reinterpret_cast<const void*>(vm->functions->GetEnv);
}

jvm::DebugInfoKeeper* JvmState::debug_info_keeper() {
  return sampler.load() == nullptr ? nullptr : &hotspot;
}

}  // namespace jtrace
